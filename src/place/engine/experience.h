// What running jobs taught about time and energy, and what that says of a task on a machine type.
//
// Of each family and machine type the costs of the last tasks are kept: seconds and joules a unit of work on
// so many cores. While there are few, their median says what the next one costs; from kFewest on HEATS'
// regression does (heats_model.h). A type on which the family never ran is told from those on which it did,
// by the speed factors of the machines and their stated power; where it ran nowhere, from what the job itself
// says (place.takes), and where that says nothing, machines are compared as if the work were one second.
// Energy is what the task adds to the idle machine; where somebody's power is not known, there is none, and
// placement goes by time alone.
//
// A task counts if one attempt ran from its beginning to its end. Its state is a fold over events. Fitting is put
// off until somebody will ask: whoever folds a long history learns once, not at every task's end. Pure.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "event/view.h"
#include "place/engine/cluster.h"
#include "place/policy/heats_model.h"

namespace tandem::place {

struct Expected {
  double seconds = 0, joules = 0;  // joules 0: nobody knows
  enum class From { learnt, related, declared, nothing } from = From::nothing;
  // Nine of ten earlier predictions of time, each made before its task ran, were at most this share off; 0:
  // there were too few to say.
  double within = 0;
};
const char* name(Expected::From);  // "learnt from 12 like it" is made by who shows it

class Experience {
 public:
  static constexpr std::size_t kFewest = 5, kKept = 64;

  // After the view took the event; the family of which something is to be learnt, or none.
  const std::string* saw(const View&, const Event&);
  // From all that was seen, as if after each. Comes before any question.
  void learn();
  Experience learnt() const;  // a copy that has
  Expected expect(const View&, const TaskView&, const Cluster&, std::uint32_t type) const;
  std::size_t runs(const std::string& family, const std::string& machine) const;
  // All that was learnt, exactly; models are made again.
  nlohmann::json to_json() const;
  void restore(const nlohmann::json&);

 private:
  struct Run {
    double work = 1;
    int cores = 1;
    double seconds = 0, joules = 0;  // 0: not measured
  };
  using Key = std::pair<std::string, std::string>;  // family, machine
  struct Known {
    std::vector<Run> runs{};
    std::vector<double> off{};          // of the time predicted for each, before it ran: the share
    bool energy = false;                // measured in all of them
    std::optional<HeatsModel> model{};  // once there are kFewest
  };
  static std::shared_ptr<const Known> learn(const Known* before, const std::vector<Run>&);
  static void fit(Known&);
  static Expected from(const Known&, double work, int cores);
  static double within(const Known&);

  std::map<Key, std::shared_ptr<const Known>> known_;  // shared with copies: these are cheap
  std::map<Key, std::vector<Run>> seen_;               // not learnt from yet; of many, the last
};

// What the task adds to an idle node in so many seconds, from the node's stated power; 0: not stated.
double added_joules(const NodeTraits&, const Amount& node, int cores, double seconds);

// For rankings: tasks by their id.
class LivePredictor final : public Predictor {
 public:
  LivePredictor(const Experience& experience, const View& view, const Cluster& cluster)
      : experience_(experience), view_(view), cluster_(cluster) {}
  Prediction predict(std::uint32_t task, std::uint32_t type) override;
  // Can energy be told on every type?
  bool knows_energy(TaskId) const;

 private:
  const Experience& experience_;
  const View& view_;
  const Cluster& cluster_;
};

}  // namespace tandem::place
