#include "cli/sim_replay.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "app/runs.h"
#include "app/sim_replay.h"
#include "base/error.h"
#include "report/replay_table.h"

namespace tandem::cli {

int replay_run(const StoreOption& where, const std::string& wanted, const JsonOption& json_option) {
  auto store = where.open();
  const auto run = with_real_state(store, find_own_run(store, wanted));
  if (run.state == "running")
    throw UserError("run " + run.id +
                    " is still at work; replay it when it is over, or end it with `tandem stop " + run.id +
                    "`");
  const View view = replayed(store, run);
  const Replayed out = replay_of(view);
  json_option.write(replay_json(run, view, out));
  if (!json_option.alone()) std::cout << replay_table(run, view, out);
  return kDone;
}

}  // namespace tandem::cli
