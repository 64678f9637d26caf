#include "report/page.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>

#include "app/experiment_results.h"
#include "app/tune_results.h"
#include "report/drawings.h"
#include "report/html.h"
#include "report/parts.h"

namespace tandem::report {

using namespace app;
namespace {

std::string date_of(Seconds at) {
  if (!(at.value > 0 && at.value < 2.5e11)) return "";
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(at.value)));
}

std::string head_of(const store::RunInfo& run, const View& view) {
  std::string about =
      fmt::format("<span class=\"state {}\">{}</span>", escape(run.state, 20), escape(run.state, 40));
  about += escape(run.reason.empty() ? "" : run.reason + " · ", 400);
  about += escape(drawing_of(view).title, 80) + " " + escape(run.id, 80);
  if (const auto date = date_of(run.created); !date.empty()) about += ", begun " + date;
  if (!view.nodes.empty()) {
    const auto& node = view.nodes.front();
    about += escape(fmt::format(", on {} ({}, {})", node.name.empty() ? "this machine" : node.name,
                                node.type.empty() ? "unknown type" : node.type, text(node.capacity)),
                    400);
  }
  if (!view.jobs.empty()) {
    const auto& program = view.jobs.front().base().program;
    if (program.built_in() && !program.model.empty())
      about += escape(fmt::format(", {} on {}", program.model, program.dataset), 200);
  }
  return fmt::format("<header><h1>{}</h1>\n<p class=\"sub\">{}</p></header>\n", escape(run.name, 200), about);
}

// Links to the sections that are there.
std::string contents_of(const std::string& body) {
  std::string out = "<nav>";
  for (std::size_t at = 0; (at = body.find("<section id=\"", at)) != std::string::npos; ++at) {
    const std::size_t id = at + 13, id_end = body.find('"', id);
    const std::size_t title = body.find("<h2>", id_end) + 4, title_end = body.find("</h2>", title);
    out += fmt::format("<a href=\"#{}\">{}</a>\n", body.substr(id, id_end - id),
                       body.substr(title, title_end - title));
  }
  return out + "</nav>\n";
}

}  // namespace

std::string tune_body(const View& view) {
  const Tuned run(view);
  std::vector<const TaskView*> failed;
  for (const auto& trial : run.found.trials)
    if (trial.state == "failed") failed.push_back(&run.task(trial));
  return tune_headline(run) + convergence_section(run) + front_section(run) + energy_time_section(run) +
         importance_section(run) + parameters_section(run) + cores_section(run) + speed_section(run) +
         clusters_section(run) + counters_section(run) + trials_section(run) + failures_section(failed);
}

std::string whole_page(std::string_view title, const std::string& head, const std::string& body,
                       std::string_view made_from) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light "
      "dark\">\n"
      "<title>{0} – Tandem</title>\n<style>{1}</style>\n</head>\n<body>\n{2}<main>\n{3}{4}</main>\n"
      "<footer>Made by tandem {5} from {6}. Nothing on this page is fetched from "
      "elsewhere.</footer>\n"
      "<script>{7}</script>\n</body>\n</html>\n",
      escape(title, 200), kReportStyle, head, contents_of(body), body, TANDEM_VERSION, escape(made_from, 200),
      kReportScript);
}

std::string report_page(const store::RunInfo& run, const View& view) {
  return whole_page(run.name, head_of(run, view), drawing_of(view).body(run, view),
                    "the journal of run " + run.id);
}

}  // namespace tandem::report
