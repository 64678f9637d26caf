// What the tables cannot say of one key alone, the same for every kind of spec. Pure functions.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/catalogue.h"
#include "spec/document.h"
#include "spec/job.h"

namespace tandem::spec {

template <class Entry>
const Entry* find(const std::vector<Entry>& entries, const std::string& name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

inline bool is_map(const Node* node) {
  return node != nullptr && node->kind == Node::Kind::map;
}

// Exactly one of the two forms, and a model with a dataset it can learn from.
void check_program(const Node* program, const Program&, const Catalogue&, Issues&);
// A plain program has no epochs.
void check_plain(const Node& root, TrainJob&, Issues&);
void check_place(const Node*, const PlaceSpec&, const Resources& system, Issues&);
// What is said of GPUs needs some, and tasks that share one cannot each have its power or clock their way.
void check_gpus(const Node* system, int gpus, Issues&);
void check_energy(const Node* energy, const EnergySpec&, Issues&);

// "lenet5-digits", or the command's base name, of an interpreter's its script's ("train"), with what a name may
// not hold turned into '-'.
std::string default_name(const Program&);
// The last part of a path, made a name; empty when nothing is left of it.
std::string file_name_as_name(const std::string& path);

}  // namespace tandem::spec
