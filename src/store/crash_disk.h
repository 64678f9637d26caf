// For tests: what a disk may hold after a crash, given every call that was made of it.
//
// Writes, truncations and names are kept in the order in which they were made, with the syncs between them.
// A crash keeps what was synced. Of everything later each sector has any of the contents it had since, a file
// any of its sizes, and the folder the names of any moment since its last sync: writes are dropped, torn
// between sectors and reordered between syncs, as caches of disks do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"

namespace tandem::store {

class CrashDisk {
 public:
  using Files = std::map<std::string, std::string>;  // by name

  int create(const std::string& name) {  // the number of the new file
    names_.push_back({calls_, name, static_cast<int>(files_.size())});
    files_.push_back({{calls_++, Call::sync}});
    return names_.back().file;
  }
  void remove(const std::string& name) { names_.push_back({calls_++, name, kNone}); }
  void rename(const std::string& from, const std::string& to) {
    names_.push_back({calls_++, to, file_called(from)});
    names_.push_back({names_.back().when, from, kNone});  // both or neither
  }
  void write(int file, std::uint64_t offset, std::string bytes) {
    files_.at(file).push_back({calls_++, Call::write, offset, std::move(bytes)});
  }
  void resize(int file, std::uint64_t size) { files_.at(file).push_back({calls_++, Call::resize, size}); }
  void sync(int file) { files_.at(file).push_back({calls_++, Call::sync}); }
  void sync_names() { names_synced_.push_back(calls_++); }

  int file_called(const std::string& name) const {  // now; kNone: there is none
    for (auto at = names_.rbegin(); at != names_.rend(); ++at)
      if (at->name == name) return at->file;
    return kNone;
  }
  std::int64_t calls() const { return calls_; }  // a crash can come before each, and after all of them

  // What is found after a crash before this call.
  Files after_crash(std::int64_t before, Random& random) const {
    std::int64_t synced = 0;
    for (const auto when : names_synced_)
      if (when < before) synced = when;
    const auto until = synced + static_cast<std::int64_t>(random.below(before - synced + 1));
    std::map<std::string, int> found;
    for (const auto& change : names_)
      if (change.when < until) found[change.name] = change.file;
    Files out;
    for (const auto& [name, file] : found)
      if (file != kNone) out[name] = contents(files_[file], before, random);
    return out;
  }

  static constexpr int kNone = -1;

 private:
  static constexpr std::uint64_t kSector = 512;
  struct Call {
    std::int64_t when;
    enum Kind { write, resize, sync } kind;
    std::uint64_t offset = 0;  // or the size
    std::string bytes{};
  };
  struct Name {
    std::int64_t when;
    std::string name;
    int file;
  };

  static void put(std::string& image, std::uint64_t offset, std::string_view bytes) {
    if (image.size() < offset + bytes.size()) image.resize(offset + bytes.size());
    std::copy(bytes.begin(), bytes.end(), image.begin() + static_cast<std::ptrdiff_t>(offset));
  }

  template <class Each>  // each(sector, offset, bytes)
  static void by_sector(const Call& call, const Each& each) {
    for (std::uint64_t at = 0; at < call.bytes.size();) {
      const auto offset = call.offset + at;
      const auto size = std::min(kSector - offset % kSector, call.bytes.size() - at);
      each(offset / kSector, offset, std::string_view(call.bytes).substr(at, size));
      at += size;
    }
  }

  static std::string contents(const std::vector<Call>& calls, std::int64_t before, Random& random) {
    std::size_t end = 0, synced = 0;
    for (; end < calls.size() && calls[end].when < before; ++end)
      if (calls[end].kind == Call::sync) synced = end + 1;
    std::string image;
    for (std::size_t i = 0; i < synced; ++i) {
      if (calls[i].kind == Call::write) put(image, calls[i].offset, calls[i].bytes);
      if (calls[i].kind == Call::resize) image.resize(calls[i].offset);
    }
    // Of each sector how many of its writes arrived, and which of the sizes the file has.
    std::map<std::uint64_t, std::uint64_t> writes;
    std::vector<std::uint64_t> sizes{image.size()};
    for (std::size_t i = synced; i < end; ++i) {
      if (calls[i].kind == Call::resize) sizes.push_back(calls[i].offset);
      if (calls[i].kind != Call::write) continue;
      sizes.push_back(std::max<std::uint64_t>(sizes.back(), calls[i].offset + calls[i].bytes.size()));
      by_sector(calls[i], [&](auto sector, auto, auto) { ++writes[sector]; });
    }
    for (auto& [sector, count] : writes) count = random.below(count + 1);
    for (std::size_t i = synced; i < end; ++i)
      if (calls[i].kind == Call::write)
        by_sector(calls[i], [&](auto sector, auto offset, auto bytes) {
          if (auto& left = writes[sector]; left > 0) {
            put(image, offset, bytes);
            --left;
          }
        });
    image.resize(sizes[random.below(sizes.size())]);
    return image;
  }

  std::int64_t calls_ = 0;
  std::vector<std::vector<Call>> files_;
  std::vector<Name> names_;
  std::vector<std::int64_t> names_synced_;
};

}  // namespace tandem::store
