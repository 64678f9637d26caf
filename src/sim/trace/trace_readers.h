// One reader a format (the table of them: trace_formats()). Each says here what it relies on; other columns
// and keys may be there and are not looked at. A reader takes the whole text and the file's name for
// messages, and throws UserError when the header lacks a column or nothing is usable. `is_x` is cheap and
// never throws. Pure.
#pragma once

#include <string_view>

#include "sim/trace/trace.h"

namespace tandem::sim {

// Alibaba cluster-trace-gpu-v2023, openb_pod_list_*.csv. Header: name, cpu_milli, memory_mib, num_gpu,
// gpu_milli (of each GPU; 0 or nothing: whole ones), gpu_spec (types joined by "|"; nothing or "nan": any),
// qos, pod_phase, creation_time, deletion_time, scheduled_time (s). The duration is from being scheduled to
// deletion; a pod that never was scheduled is kept, its duration a hole. Priority: LS and Guaranteed 2,
// Burstable 1, BE 0.
bool is_alibaba_pods(std::string_view text);
Trace read_alibaba_pods(std::string_view text, std::string_view file);

// openb_node_list_*.csv. Header: sn, cpu_milli, memory_mib, gpu, model. Fills nodes, no jobs.
bool is_alibaba_nodes(std::string_view text);
Trace read_alibaba_nodes(std::string_view text, std::string_view file);

// Gavel's *.trace, tab separated, no header; either 7 fields: job type, command, steps flag, needs data,
// steps, arrival (s), GPUs; or 10: job type, command, folder, steps flag, needs data, steps, GPUs, weight,
// SLO (< 0: none), arrival. The application is the job type as written; the batch size is taken out of it. A
// task is one GPU. There are no durations: add them from throughputs (trace_gavel.h).
bool is_gavel(std::string_view text);
Trace read_gavel(std::string_view text, std::string_view file);

// Pollux' workload-*.csv. Header: name, time (s), application, num_replicas, batch_size (of all replicas). A
// task is one GPU. There are no durations and no steps.
bool is_pollux(std::string_view text);
Trace read_pollux(std::string_view text, std::string_view file);

// msr-fiddle/philly-traces, cluster_job_log: JSON, an array of {status, vc, jobid, user, submitted_time,
// attempts: [{start_time, end_time, detail: [{gpus: [...]}]}]}. The GPUs are those of the first attempt that
// has any; a task is one machine where all have as many, else one GPU. The duration is the sum of the
// attempts, as the time between them is waiting; attempts without both times do not count. A job whose last
// attempt has no end was still running: its duration is a hole. No attempt, or none with GPUs: skipped.
bool is_philly(std::string_view text);
Trace read_philly(std::string_view text, std::string_view file);

// S-Lab HeliosData, cluster_log.csv. Header: job_id, user, vc, gpu_num, cpu_num, node_num (the job's in all),
// state, submit_time ("2020-06-09 18:41:01"), duration, queue (s). A task is a node's share where the GPUs
// divide by the nodes, else one GPU. Jobs without GPUs are kept.
bool is_helios(std::string_view text);
Trace read_helios(std::string_view text, std::string_view file);

// Feitelson's Standard Workload Format 2.2: lines of 18 numbers, ";" comments, -1 for what is not known.
// Relied on: 1 job, 2 submit, 3 wait, 4 run time, 5 allocated processors, 7 used memory (KiB a processor), 8
// requested processors, 9 requested time, 10 requested memory (KiB a processor), 11 status, 12 user, 14
// executable, 15 queue. A task is one core. Processors are those allocated, as the run time was measured on
// them; where that is not known, those requested. Memory is what was requested, else what was used.
bool is_swf(std::string_view text);
Trace read_swf(std::string_view text, std::string_view file);

}  // namespace tandem::sim
