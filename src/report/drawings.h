// How jobs are drawn, by kind (app/kinds.h): the table a person reads and the sections of a page. A kind that
// adds no drawing of its own gets one: its results by name, and its tasks. Pure but for `add_drawing`, which is
// called at start-up, before anything is drawn.
#pragma once

#include <string>

#include "app/job_view.h"
#include "report/experiment_table.h"

namespace tandem::report {

struct Drawing {
  std::string kind;
  std::string title;  // on a page, before the run's id: "tuning run"
  std::string (*table)(const store::RunInfo&, const View&, const app::TaskFolders&, const TableStyle&);
  std::string (*body)(const store::RunInfo&, const View&);  // everything between a page's head and its foot
};

// Of the view's first job; of a run whose job never began, a training's.
Drawing drawing_of(const View&);
void add_drawing(Drawing);

}  // namespace tandem::report
