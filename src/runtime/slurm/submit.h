// How a task is handed to Slurm: its mark, and the argument vectors of sbatch, scancel and squeue. Pure.
//
// No shell ever sees what people wrote: commands are vectors, the batch script is the same one line for every
// job
// (`exec "$@"`), and what a program needs travels in a file (ticket.h). Names that go onto a command line
// (partition, account, ...) may hold letters, digits and `._-+@:=,` and must not begin with `-`; anything
// else is a UserError.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/resources.h"
#include "event/ids.h"
#include "runtime/slurm/parse.h"

namespace tandem::slurm {

// Names one submission for good; it is the job's --comment, by which the job is found again. An attempt is
// submitted more than once when it moves: resized, held, or at the end of its time.
struct Mark {
  std::string run;
  TaskId task = 0;
  Attempt attempt = 1;
  int submission = 1;
  bool operator==(const Mark&) const = default;
};
std::string text(const Mark&);                     // "tandem:20261115-0430:3:1:2"
std::optional<Mark> parse_mark(std::string_view);  // none: somebody else's comment

// What the site wants to know about every job; empty: the site's default.
struct Site {
  std::string partition, account, qos, constraint, reservation;
  std::string gres;                        // "gpu:1", for tasks that are granted no GPUs of their own
  std::optional<Seconds> time;             // the limit of each job
  std::optional<std::int64_t> full_clock;  // kHz; what `speed` is a share of, by --cpu-freq
};
// Throws UserError that names the field and what is wrong with it.
void validate(const Site&);
// The same for the id of a run, which is part of marks and of file names.
void validate_run(std::string_view run);

struct Submission {
  Mark mark;
  std::string node;   // exactly there, of a gang with commas between them; empty: where Slurm likes
  Resources granted;  // on each node; without memory, Slurm gives what the site gives to those who do not ask
  std::filesystem::path script, output, working_folder;
  std::vector<std::string> command;  // what the script becomes: the agent and its ticket
  std::size_t nodes = 1;             // more: a gang, with an agent on each
};

// `--no-requeue`: an orphan never runs beside its successor. Throws UserError for a speed that cannot be
// asked for.
std::vector<std::string> sbatch(const Site&, const Submission&);
// The same as a step of a pilot, to be run inside its job.
std::vector<std::string> srun(const Site&, const Submission&);
std::vector<std::string> scancel(const std::vector<SlurmJobId>&);
std::vector<std::string> squeue();
std::vector<std::string> sinfo();
std::vector<std::string> sstat(SlurmJobId);  // what the job has drawn; needs no accounting
// The whole batch script; it does not depend on anything.
inline constexpr const char* kScript = "#!/bin/sh\nexec \"$@\"\n";

// The ids of jobs that carry a mark of this run which nobody here knows: left by a Tandem that is gone.
std::vector<SlurmJobId> orphans(const std::vector<QueuedJob>&, const std::string& run,
                                const std::vector<Mark>& known);

}  // namespace tandem::slurm
