// tandem report RUN
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/job_view.h"
#include "base/error.h"
#include "cli/command.h"
#include "app/output_file.h"
#include "cli/session.h"
#include "report/page.h"

namespace tandem::cli {
namespace {

struct ReportOptions {
  std::string run, file;
  StoreOption store;
  JsonOption json;
};

// A server's job is RUN/JOB.
std::string file_name_of(std::string run) {
  std::replace(run.begin(), run.end(), '/', '-');
  return run;
}

int write_report(const ReportOptions& options) {
  if (options.file == "-" && options.json.alone())
    throw UserError("both the page and the JSON cannot go to standard output; give -o or --json a file");
  auto store = options.store.open();
  const auto [run, view, folders] = find_job_run(store, options.run);
  const std::string page = report_page(run, view);
  const std::string file = options.file.empty() ? "report-" + file_name_of(run.id) + ".html" : options.file;
  write_page(file, page);
  options.json.write({{"run", run.id}, {"file", file}, {"bytes", page.size()}});
  if (file != "-" && !options.json.alone())
    std::cout << fmt::format("{} ({}): open it in a browser, or send it on; it needs nothing else.\n", file,
                             text_bytes(static_cast<Bytes>(page.size())));
  return kDone;
}

}  // namespace

void write_page(const std::string& file, const std::string& page) {
  if (file == "-") {
    std::cout << page << std::flush;
    return;
  }
  write_file(file, page);
}

void add_report(CLI::App& app, Action& action) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = add_command(app, "report", "Make a page of a run: one HTML file with plots and tables",
                                  "  tandem report last\n  tandem report last -o report.html\n"
                                  "  tandem report lenet-digits -o - > page.html\n  tandem report main/12    "
                                  "             job 12 of the server 'main'");
  command->add_option("RUN", options->run, "id, its beginning, a name, 'last', or SERVER/JOB")->required();
  command
      ->add_option("-o,--output", options->file,
                   "the file to write; '-' is standard output (default: report-RUN.html)")
      ->type_name("FILE|-");
  options->store.add_to(*command);
  options->json.add_to(*command);
  command->callback([options, &action] { action = [options] { return write_report(*options); }; });
}

}  // namespace tandem::cli
