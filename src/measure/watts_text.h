// Reads the power out of what a network power meter answers. Pure.
//
// Understood: a bare number; JSON with one numeric "watts" or "power" anywhere in it (Shelly, Tasmota;
// letters' case does not matter); text in which one number is followed by W, kW or mW, or one follows "power"
// or "watts" (such as Lindy's iPower: "Power: 123.4 W"). Several candidates are not guessed between.
#pragma once

#include <string>
#include <string_view>

#include "base/units.h"

namespace tandem::measure {

// Throws SystemError that quotes the answer when there is no power in it, or more than one, or it is not a
// number of watts from 0 to a million.
Watts watts_from(std::string_view answer);

}  // namespace tandem::measure
