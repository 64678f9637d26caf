// Domains as people write them: {choice: [...]}, {range: [a, b]}, {log: [a, b]} or {int: [a, b]}, what may
// stand beside one ({log: [16, 512], int: true}, {int: [16, 256], step: 16}), and its condition: {..., when:
// {optimizer: sgd}}. Pure functions; they report to Issues what is wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/document.h"
#include "spec/field.h"
#include "spec/space.h"

namespace tandem::spec {

// choice, range, log, int
const std::vector<std::string>& domain_forms();

// What `form` means for this field, when it may be used there: {log: ...} of whole numbers is log_whole.
std::optional<Domain::Kind> domain_kind(const Field&, const std::string& form);

// The domain in `map`; its items and ends follow the field's own rules. `when` beside it is let pass where
// the field takes any domain.
std::optional<Domain> read_domain(const Field&, const Node& map, const std::string& path, Issues&);

// One value of a choice or a condition: of a command's own parameter (Type::any) also null, a list or a map.
std::optional<Value> read_choice(const Field&, const Node&, const std::string& path, Issues&);

// The values of a domain that has few: choices as written, or the whole numbers from end to end.
std::vector<Found> read_few(const Field&, const Node& map, const std::string& path, Issues&);

// A list of values of the field, at least one and all different; nothing when one is bad.
std::optional<std::vector<Value>> read_choices(const Field&, const Node& list, const std::string& path,
                                               Issues&);

}  // namespace tandem::spec
