// What runs on the node: starts one program, relays its lines, and writes down how it ended.
//
// Least it can be: no root, no listening, one file read (the ticket), two written (claim, record). A ticket
// is used once: the second agent that finds the claim ends at once, so a requeued job never runs beside its
// successor. Each process of a gang has an agent, which does all this for it. The program begins only after
// the world said Go. When the connection is lost, Tandem is gone as far as this program is concerned: its
// socket is closed, it is asked to end, and after `grace` made to.
#pragma once

#include "runtime/slurm/wire.h"

namespace tandem::slurm {

// How long both ends take to notice a machine that vanished (TCP keepalive and user timeout).
inline constexpr Seconds kNoticed{25};
void watch_for_loss(int socket);

inline constexpr int kPatience = 30;  // seconds, to reach Tandem and to hear Go
inline constexpr int kUsedTicket = 3;

// The job's exit status: the program's, 128 and a signal, or 3 when the ticket had been used.
int run_agent(const Ticket&);

// The same for a pilot: one long job in which tasks run as steps (`srun`), since a step starts in a
// tenth of the time a job takes. It starts no program itself: each step is an agent as above, with a
// ticket and a connection of its own. It ends when it is told to, when Slurm ends it, or when it loses
// Tandem.
int run_pilot(const Ticket&);

}  // namespace tandem::slurm
