// What programs print, kept up to a limit (limits.output): of each file its newest half at most in `NAME`, what
// came before that in `NAME.1`, and of what is not kept any more a line in it that says how much that is.
//
// A program prints into a pipe, and one thread of this object writes what comes to the file. So nothing a
// program prints can fill a disk, however fast (a file that it had itself could grow by gigabytes between two
// looks), one that prints without end waits in its own write, and no program holds a descriptor of the log. The
// price: if Tandem is killed, what it had not yet taken from the pipe is lost, a quarter of a MiB or a fiftieth
// of a second at most; the program is killed with it. Programs that print little do not wake it more than 50
// times a second, since what runs beside may be measured; those that print much are read at most once a
// millisecond, each in its turn.
//
// The file is opened by descriptor, never through a link (platform/plain_file.h), and with the permissions of the
// user the program runs as: a program may replace it, by a file of somebody else too, or its folder. A disk that is full loses what is printed, and stops nobody. Any thread may call.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/units.h"
#include "event/ids.h"
#include "platform/credentials.h"
#include "platform/descriptor.h"

namespace tandem::runtime {

// One such file.
class OutputFile {
 public:
  // `below`, in a folder that is there, of `folder`, which is trusted. Throws SystemError.
  OutputFile(const std::filesystem::path& folder, const std::filesystem::path& below, Bytes limit,
             std::optional<platform::Credentials> as = {});

  void write(std::string_view);
  void note(TaskId, const std::string& line);  // of ours

 private:
  void append(std::string_view);
  void rotate();
  void open();

  std::optional<platform::Credentials> as_;  // none: ours
  platform::Descriptor folder_, file_;
  std::string name_;
  Bytes limit_, size_ = 0;
  Bytes not_kept_ = 0;
  bool gap_ = false, full_ = false;  // something is missing that was not said yet; for want of space
};

class Outputs {
 public:
  Outputs();
  Outputs(const Outputs&) = delete;
  ~Outputs();

  // For a program's standard output and error. Tasks may share a file; the first says its limit.
  platform::Descriptor begin(TaskId, const std::filesystem::path& folder, const std::filesystem::path& below,
                             Bytes limit, const std::optional<platform::Credentials>& as = {});
  void note(TaskId, const std::string& line);  // a line of ours among it
  // All its processes have ended: takes what is left in the pipe. The last lines it printed, made printable.
  std::string end(TaskId);

 private:
  struct Source {
    platform::Descriptor pipe;  // none: nobody prints any more
    std::shared_ptr<OutputFile> file;
    std::string last;  // what it printed last
  };
  void run();
  std::size_t take(Source&);  // bytes; none: nothing more comes now

  std::mutex mutex_;
  std::map<TaskId, Source> sources_;
  std::map<std::filesystem::path, std::weak_ptr<OutputFile>> files_;
  platform::Descriptor epoll_, stop_;
  std::thread thread_;
};

}  // namespace tandem::runtime
