#include "place/policy/queue.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace tandem::place {

const std::vector<OrderEntry>& orders() {
  static const std::vector<OrderEntry> table = {
      {"fifo", "first come, first served; one that finds no room blocks those behind it", true,
       [](const JobFacts& job) { return job.submitted; }},
      {"first-fit", "in the order they came, whoever finds room", false,
       [](const JobFacts& job) { return job.submitted; }},
      {"least-work", "least work first: parts times seconds where it is fastest; whoever finds room", false,
       [](const JobFacts& job) { return job.parts * job.seconds; }, false, true},
      {"shortest", "the shortest first, however large; whoever finds room", false,
       [](const JobFacts& job) { return job.seconds; }, false, true},
      {"priority", "the highest priority first, then as they came; whoever finds room", false,
       [](const JobFacts& job) { return -1.0 * job.priority; }},
      {"to-the-end", "as they came; one that finds no room goes to the queue's end", false, nullptr, true},
  };
  return table;
}

const OrderEntry& find_order(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& entry : orders()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw UserError(fmt::format("there is no policy '{}'{}; there are: {}", printable(name, 60),
                              did_you_mean(name, names), join(names)));
}

void Queue::add(std::uint32_t job, std::uint32_t shape, const JobFacts& facts) {
  if (shape >= lines_.size()) lines_.resize(shape + std::size_t{1}), sent_back_.resize(lines_.size(), 0);
  Line& line = lines_[shape];
  const Waiting waiting{order_.to_the_end ? ++places_ : order_.key(facts), job};
  ++size_;
  const bool leads = line.empty() || waiting < line.top();
  const bool had_head = !line.empty();
  line.push(waiting);
  if (!leads) return;
  if (had_head) {  // a key that is lower than that of an older job: rare
    std::erase_if(heads_, [&](const Head& head) { return head.shape == shape; });
    heads_.push_back({waiting, shape});
    std::make_heap(heads_.begin(), heads_.end(), std::greater<>{});
  } else {
    heads_.push_back({waiting, shape});
    std::push_heap(heads_.begin(), heads_.end(), std::greater<>{});
  }
}

Queue::Waiting Queue::effective(std::uint32_t shape) const {
  Waiting out = lines_[shape].top();
  out.first = order_.to_the_end ? std::max(out.first, sent_back_[shape]) : out.first;
  return out;
}

void Queue::serve(const std::function<bool(std::uint32_t job)>& start) {
  no_room_.clear();
  while (!heads_.empty()) {
    const Head head = heads_.front();
    const bool started = start(head.first.second);
    if (!started && order_.blocks) break;
    std::pop_heap(heads_.begin(), heads_.end(), std::greater<>{});
    heads_.pop_back();
    if (!started) {
      no_room_.push_back(head);
      continue;
    }
    Line& line = lines_[head.shape];
    line.pop();
    --size_;
    if (line.empty()) continue;
    heads_.push_back({effective(head.shape), head.shape});
    std::push_heap(heads_.begin(), heads_.end(), std::greater<>{});
  }
  for (const Head& head : no_room_) {
    if (order_.to_the_end) sent_back_[head.shape] = ++places_;
    heads_.push_back({effective(head.shape), head.shape});
    std::push_heap(heads_.begin(), heads_.end(), std::greater<>{});
  }
}

}  // namespace tandem::place
