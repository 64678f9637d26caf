// The view as bytes: a cache of the fold over a journal, so that a long one need not be folded again.
//
// Read back it is the view it was, to the last bit, but for what only who looks back sets (View::keeps). The
// bytes are for the Tandem that wrote them: whoever keeps them says which that was (control/snapshot.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "event/view.h"

namespace tandem {

// Takes bytes as they come.
using ByteSink = std::function<void(std::string_view)>;
void write_view(const View&, const ByteSink&);  // in pieces: never all of them at once
std::string view_to_bytes(const View&);
View view_from_bytes(std::span<const std::uint8_t>);  // SystemError: damaged

}  // namespace tandem
