// Who is served next: jobs that wait, in the order of a policy.
//
// A policy is a row of a table: by which number jobs are ordered, and whether the first that finds no room
// blocks those behind it. Jobs that ask for the same (one shape) are served among themselves in order, so
// when one of them finds no room, the others of its shape are not asked again in that round: a round costs as
// much as there are shapes and jobs that start, however many wait. Ties: the lower job number. Where a policy
// sends those without room to the queue's end, all of their shape that wait go there, in their order. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace tandem::place {

// What a policy may know of a job.
struct JobFacts {
  double submitted = 0;  // s
  double seconds = 0;    // it takes where it is fastest
  double parts = 1;
  int priority = 0;  // higher first
};

struct OrderEntry {
  std::string name, description;
  bool blocks = true;
  double (*key)(const JobFacts&) = nullptr;  // the lowest goes first
  bool to_the_end = false;                   // one that finds no room goes behind all who wait; no key
  bool by_time = false;                      // the key looks at JobFacts::seconds
};
const std::vector<OrderEntry>& orders();
const OrderEntry& find_order(const std::string& name);  // throws UserError

class Queue {
 public:
  explicit Queue(const OrderEntry& order) : order_(order) {}

  void add(std::uint32_t job, std::uint32_t shape, const JobFacts&);
  // Offers jobs until none can start. `start` says whether the job found room; it must not add jobs.
  void serve(const std::function<bool(std::uint32_t job)>& start);
  std::size_t size() const { return size_; }

 private:
  using Waiting = std::pair<double, std::uint32_t>;
  using Line = std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>;
  struct Head {
    Waiting first;
    std::uint32_t shape = 0;
    bool operator>(const Head& other) const { return first > other.first; }
  };

  Waiting effective(std::uint32_t shape) const;  // the place of a line's first in the whole queue

  const OrderEntry& order_;
  std::vector<Line> lines_;            // by shape
  std::vector<double> sent_back_;      // by shape: the place in the queue it was last sent to
  double places_ = 0;                  // given out so far, where jobs go to the end
  std::vector<Head> heads_, no_room_;  // a heap; those out of this round
  std::size_t size_ = 0;
};

}  // namespace tandem::place
