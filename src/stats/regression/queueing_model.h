// Times of training by operational laws, as in Courier 4.2 (Albo Martinez and others, ICPE '21): a job goes
// through its steps one by one; in each it computes and then waits for the disk, which others use too.
//
//     T = N_T (S + R),   R = 1 / (mu - lambda)          (an M/M/1 disk; the paper prints the sign reversed)
//
//   N_T     steps: records x epochs / batch, of the columns "records" and "epochs". Where one of them is
//           missing it is taken to be the same in all runs: rates are then told in an unknown unit of time,
//           and times are predicted all the same.
//   S       service time of the processors in a step, by batch. Totals cannot tell computing from waiting, so
//           it is assumed: the share `cpu` (0.8) of the shortest step seen with that batch, for some of even
//           the quietest run is disk. Between batches on a line of logarithms, beyond them by its ends, where
//           a step of twice the batch takes at least as long and at most twice as long.
//   lambda  arrivals at the disk: max(1, processes / workers) / S, with processes = "cores" x "jobs" x
//           "replicas" (a missing one counts as 1), workers = column "nodes", or the option (1).
//   mu      the disk's service rate, regressed on batch and processes.
//
// The paper regresses mu by a plane. On its own 47 runs that plane falls below lambda for some rows that were
// held out (12 of 235, ten folds five times, cpu = 0.7 and three workers), where times would be negative. So
// what is regressed is the queue: by Little's law lambda R = L = rho / (1 - rho) requests are at the disk,
// log L is linear in the logarithms of batch and processes and in their product, and mu = lambda (1 + 1/L) is
// above lambda whatever the numbers. Times are positive always. A time of training must be above 0, which is
// checked; a shortest step is above its own share, so that E[T]/N_T > S.
//
// It needs the column "batch". Pure.
#pragma once

#include "stats/regression/regression.h"

namespace tandem::stats {

std::unique_ptr<Regression> make_queueing(const std::vector<std::string>& columns);
const std::vector<RegressionOption>& queueing_options();

}  // namespace tandem::stats
