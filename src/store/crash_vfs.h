// For tests: a file system of SQLite that tells a CrashDisk what is done to the files of databases. While it
// lives, it is what SQLite uses where none is named. Syncs are taken down and not made: nobody pulls a plug
// here.
//
// Reading, locks and shared memory are the ordinary file system's. One thread.
#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <new>
#include <string>
#include <utility>

#include "store/crash_disk.h"

namespace tandem::store {

class CrashVfs {
 public:
  explicit CrashVfs(CrashDisk& disk) : real_(sqlite3_vfs_find(nullptr)), disk_(disk) {
    vfs_ = *real_;
    vfs_.zName = "tandem-crash";
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
    vfs_.pAppData = this;
    vfs_.xOpen = open;
    vfs_.xDelete = remove;
    sqlite3_vfs_register(&vfs_, 1);
  }
  CrashVfs(const CrashVfs&) = delete;
  ~CrashVfs() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(real_, 1);
  }

 private:
  struct File {
    sqlite3_file base;
    CrashVfs* vfs;
    int number;      // on the disk
    bool name_safe;  // the ordinary file system syncs the folder with a new file's first sync
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };
  static File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
  static std::string name_of(const char* path) { return std::filesystem::path(path).filename(); }

  static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* raw, int flags, int* out_flags) {
    auto& self = *static_cast<CrashVfs*>(vfs->pAppData);
    auto* file = new (raw) File{};
    const int code = self.real_->xOpen(self.real_, path, file->real(), flags, out_flags);
    if (code != SQLITE_OK) return code;
    file->base.pMethods = &methods();
    file->vfs = &self;
    const auto name = name_of(path);
    file->number = self.disk_.file_called(name);
    file->name_safe = file->number != CrashDisk::kNone;
    if (!file->name_safe) file->number = self.disk_.create(name);
    return code;
  }
  static int remove(sqlite3_vfs* vfs, const char* path, int sync_folder) {
    auto& self = *static_cast<CrashVfs*>(vfs->pAppData);
    const int code = self.real_->xDelete(self.real_, path, 0);
    if (code != SQLITE_OK) return code;
    self.disk_.remove(name_of(path));
    if (sync_folder) self.disk_.sync_names();
    return code;
  }

  static int write(sqlite3_file* raw, const void* bytes, int size, sqlite3_int64 offset) {
    auto& file = of(raw);
    file.vfs->disk_.write(file.number, static_cast<std::uint64_t>(offset),
                          {static_cast<const char*>(bytes), static_cast<std::size_t>(size)});
    return file.real()->pMethods->xWrite(file.real(), bytes, size, offset);
  }
  static int truncate(sqlite3_file* raw, sqlite3_int64 size) {
    auto& file = of(raw);
    file.vfs->disk_.resize(file.number, static_cast<std::uint64_t>(size));
    return file.real()->pMethods->xTruncate(file.real(), size);
  }
  static int sync(sqlite3_file* raw, int) {
    auto& file = of(raw);
    file.vfs->disk_.sync(file.number);
    if (!std::exchange(file.name_safe, true)) file.vfs->disk_.sync_names();
    return SQLITE_OK;
  }

  // A call of the ordinary file system with its own file.
  template <auto Method, class... Arguments>
  static auto pass(sqlite3_file* raw, Arguments... arguments) {
    auto* real = of(raw).real();
    return (real->pMethods->*Method)(real, arguments...);
  }
  template <auto Method, class Out, class... Arguments>
  static Out pass_on(sqlite3_file* raw, Arguments... arguments) {
    return pass<Method>(raw, arguments...);
  }

  static const sqlite3_io_methods& methods() {
    using M = sqlite3_io_methods;
    static const M all = [] {
      M m{};
      m.iVersion = 2;  // no memory mapping: what is written that way is not seen
      m.xClose = pass_on<&M::xClose, int>;
      m.xRead = pass_on<&M::xRead, int, void*, int, sqlite3_int64>;
      m.xWrite = write;
      m.xTruncate = truncate;
      m.xSync = sync;
      m.xFileSize = pass_on<&M::xFileSize, int, sqlite3_int64*>;
      m.xLock = pass_on<&M::xLock, int, int>;
      m.xUnlock = pass_on<&M::xUnlock, int, int>;
      m.xCheckReservedLock = pass_on<&M::xCheckReservedLock, int, int*>;
      m.xFileControl = pass_on<&M::xFileControl, int, int, void*>;
      m.xSectorSize = pass_on<&M::xSectorSize, int>;
      m.xDeviceCharacteristics = [](sqlite3_file*) { return 0; };  // no promise but syncs
      m.xShmMap = pass_on<&M::xShmMap, int, int, int, int, void volatile**>;
      m.xShmLock = pass_on<&M::xShmLock, int, int, int, int>;
      m.xShmBarrier = pass_on<&M::xShmBarrier, void>;
      m.xShmUnmap = pass_on<&M::xShmUnmap, int, int>;
      return m;
    }();
    return all;
  }

  sqlite3_vfs* real_;
  sqlite3_vfs vfs_{};
  CrashDisk& disk_;
};

}  // namespace tandem::store
