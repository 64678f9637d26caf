// A journal that forgets with its process: for tests, and for work nobody will resume (`tandem infer`).
#pragma once

#include <vector>

#include "control/ports.h"

namespace tandem::control {

class MemoryJournal final : public Journal {
 public:
  void append(std::span<const Entry> entries) override {
    entries_.insert(entries_.end(), entries.begin(), entries.end());
  }
  void replay(const std::function<void(Entry&&)>& each) override {
    for (Entry entry : entries_) each(std::move(entry));
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace tandem::control
