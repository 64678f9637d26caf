// Infrastructure-aware choice of workers (Algorithm 1 of Infrastructure-Aware TensorFlow).
//
// Assumes that the workers of a job wait for each other, so one bad node costs more than a good one gains.
// Rules, in order:
//   1. a node is out for good: never observed or not lately; it lacks what is demanded; memory or GPU memory
//      that is demanded is not free, so that the job would die there;
//   2. stragglers are out (infra_stragglers.h);
//   3. busy nodes are out: a share in use at or above its threshold for the class of the job
//      (infra_thresholds.h), or demanded cores or bandwidth that are not free;
//   4. the rest is scored, highest first, ties by host: the sum over resources of weight × what is free of
//      it, as a share of the most that any node has. Of equal nodes that is weight × (1 - share in use):
//      higher means less used, as the paper's prose says (its printed formula would prefer the busiest).
//      What a node is larger by counts too.
//      What our own tasks hold is not free either;
//   5. too few: busy nodes are readmitted, highest score first, then stragglers, and it is said so. The
//      paper's algorithm gives up there, though the job could run. Rule 1 is never bent.
// GPUs and their memory count only for jobs that demand GPUs, and no load counts that the class is known not
// to mind: neither for stragglers and thresholds nor in the score. Pure.
#pragma once

#include <string>
#include <vector>

#include "place/infra/infra_nodes.h"
#include "place/infra/infra_stragglers.h"
#include "place/infra/infra_thresholds.h"

namespace tandem::place {

// What a job wants of each of its workers; 0: does not say.
struct Demands {
  int workers = 1;
  double cores = 0;
  Bytes memory = 0;
  double bandwidth = 0;  // bytes a second
  int gpus = 0;
  Bytes gpu_memory = 0;  // of each GPU
  std::string job_class{};
};

struct PickOptions {
  Shares weights{{1, 1, 1, 1, 0}};  // CPU, memory, network, GPU; the algorithm gives GPU memory no weight
  StragglerOptions stragglers{};
  Seconds oldest{120};  // an observation that is older says nothing of now
  bool readmit = true;  // false: give up when too few are left, as the paper does
  // Share of a CPU that any machine uses for itself: where it is no more, all demanded cores count as free.
  double housekeeping = 0;
};

enum class Standing { fit, busy, straggler, no_room, lacks, unseen };
const char* name(Standing);

struct Judgement {
  std::string host;
  Standing standing = Standing::fit;
  std::string why{};  // for people; empty: fit
  double score = 0;
  bool picked = false;
};

struct Pick {
  std::vector<std::string> workers{};  // best first; empty: not enough of them
  std::vector<Judgement> nodes{};      // all of the catalogue, by host
  int readmitted = 0;                  // of the workers: busy ones and stragglers
  std::string why{};                   // why some were readmitted, or there are no workers
};

// The rules for one node after the other, whoever is picked then: all of the catalogue, by host.
std::vector<Judgement> judge_nodes(const Catalogue&, const JobClasses&, const Demands&, Seconds now,
                                   const PickOptions& = {});
// Places in `nodes` of those that may be taken, first to last.
std::vector<std::size_t> admitted(const std::vector<Judgement>& nodes, bool readmit);

Pick pick_workers(const Catalogue&, const JobClasses&, const Demands&, Seconds now, const PickOptions& = {});

}  // namespace tandem::place
