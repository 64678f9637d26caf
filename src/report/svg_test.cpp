#include "report/svg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>

#include "report/html.h"

namespace tandem::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> labels(double low, double high, bool log, int wanted) {
  std::vector<std::string> out;
  for (const auto& tick : ticks(low, high, log, wanted)) out.push_back(tick.label);
  return out;
}

using Labels = std::vector<std::string>;

TEST(Ticks, AreRoundAndInside) {
  EXPECT_EQ(labels(0, 1, false, 5), (Labels{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels(0.91, 0.968, false, 4), (Labels{"0.92", "0.94", "0.96"}));
  EXPECT_EQ(labels(0, 137, false, 5), (Labels{"0", "50", "100"}));
  EXPECT_EQ(labels(1e-4, 0.1, true, 5), (Labels{"0.0001", "0.001", "0.01", "0.1"}));
  EXPECT_EQ(labels(3, 3, false, 5), Labels{"3"});
  std::vector<std::string> whole;
  for (const auto& tick : ticks(0, 2.6, false, 6, true)) whole.push_back(tick.label);
  EXPECT_EQ(whole, (Labels{"0", "1", "2"}));
  for (const auto& [low, high] :
       std::vector<std::pair<double, double>>{{-3, 8}, {1e-9, 2e-9}, {1e5, 9e7}, {-1, 0}})
    for (const bool log : {false, true}) {
      if (log && low <= 0) continue;
      const auto all = ticks(low, high, log, 5);
      EXPECT_GE(all.size(), 2U);
      EXPECT_LE(all.size(), 12U);
      for (const auto& tick : all) {
        EXPECT_GE(tick.value, low - 1e-9 * (high - low));
        EXPECT_LE(tick.value, high + 1e-9 * (high - low));
      }
    }
}

TEST(AxisFor, HoldsEveryValueThatIsOne) {
  const Axis axis = axis_for("x", {2, kNan, 5, 3});
  EXPECT_LT(axis.low, 2);
  EXPECT_GT(axis.high, 5);
  EXPECT_TRUE(axis_for("x", {1, 10, 100}, true).log);
  EXPECT_FALSE(axis_for("x", {0, 10, 100}, true).log);  // 0 has no logarithm
  EXPECT_EQ(axis_for("x", {4, 5}, false, true).low, 0);
  EXPECT_LT(axis_for("x", {7, 7}).low, axis_for("x", {7, 7}).high);
  EXPECT_LT(axis_for("x", {}).low, axis_for("x", {}).high);
}

TEST(AxisFor, SameScaleMakesAUnitAsLongOnBoth) {
  Axis x{"x", 0, 100}, y{"y", -1, 1};
  same_scale(x, y, {220, 120, 10, 10, 10, 10});
  EXPECT_NEAR((x.high - x.low) / 200, (y.high - y.low) / 100, 1e-12);
  EXPECT_EQ(x.high, 100);
  EXPECT_NEAR(y.low, -25, 1e-12);
  EXPECT_NEAR(y.high, 25, 1e-12);
}

TEST(Plot, PutsDotsWhereTheyBelong) {
  Plot plot("a plot", {"x", 0, 10}, {"y", 0, 1}, {160, 120, 50, 10, 10, 10});
  plot.dot(0, 0, "c0", "");
  plot.dot(10, 1, "c1", "upper right");
  const std::string svg = plot.svg();
  EXPECT_NE(svg.find("class=\"dot c0\" cx=\"50.0\" cy=\"110.0\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("class=\"dot c1\" cx=\"150.0\" cy=\"10.0\" r=\"3.5\" data-t=\"upper right\""),
            std::string::npos);
  Plot log("a plot", {"x", 1, 100, true}, {"y", 0, 1}, {160, 120, 50, 10, 10, 10});
  log.dot(10, 0.5, "c0", "");
  EXPECT_NE(log.svg().find("cx=\"100.0\" cy=\"60.0\""), std::string::npos);
}

TEST(Plot, LeavesOutWhatCannotBeDrawn) {
  Plot plot("a plot", {"x", 1, 10, true}, {"y", 0, 1});
  const std::string before = plot.svg();
  plot.dot(kNan, 0.5, "c0", "");
  plot.dot(0, 0.5, "c0", "");
  plot.dot(2, std::numeric_limits<double>::infinity(), "c0", "");
  plot.line({{kNan, 1}}, "c0");
  plot.steps({}, "c0");
  plot.whisker(2, kNan, 1, "c0");
  plot.level(5, "outside");
  EXPECT_EQ(plot.svg(), before);
  plot.line({{1, 0}, {kNan, 1}, {10, 1}}, "c0");
  EXPECT_NE(plot.svg().find("<path class=\"line c0\" d=\"M58.0 228.0L426.0 12.0\"/>"), std::string::npos)
      << plot.svg();
}

TEST(Plot, StepsHoldUntilTheNext) {
  Plot plot("a plot", {"x", 0, 10}, {"y", 0, 1}, {160, 120, 50, 10, 10, 10});
  plot.steps({{0, 0}, {5, 1}, {10, 1}}, "c0");
  EXPECT_NE(plot.svg().find("d=\"M50.0 110.0H100.0V10.0H150.0V10.0\""), std::string::npos) << plot.svg();
}

// Where the texts of a plot that match begin, from left to right.
std::vector<double> left_ends(const std::string& svg, const std::regex& text) {
  std::vector<double> out;
  for (std::sregex_iterator at(svg.begin(), svg.end(), text), end; at != end; ++at)
    out.push_back(std::stod((*at)[1]));
  return out;
}

TEST(Plot, LongNumbersHaveRoomBesideTheLabel) {
  const std::regex right_end("x=\"([0-9.]+)\" y=\"[0-9.]+\" text-anchor=\"end\">2[.0-9e+]*<");
  for (const auto& [low, high] : {std::pair(0.0, 3.0), std::pair(2.3e8, 2.55e8)}) {
    const Plot plot("a plot", {"x", 0, 1}, {"bytes", low, high});
    const auto ends = left_ends(plot.svg(), right_end);
    ASSERT_FALSE(ends.empty()) << plot.svg();
    // "2.35e+08" is eight characters of about 6.5, and the label is the first 14 pixels.
    EXPECT_GE(ends.front(), low > 0 ? 14 + 8 * 6.5 : 14 + 6.5);
  }
}

TEST(Plot, ALabelLongerThanItsAxisIsBroken) {
  const std::string svg =
      Plot("a plot", {"x", 0, 1}, {"seconds_per_thousand (s per 1000 records)", 0, 1}).svg();
  EXPECT_EQ(svg.find("thousand (s per 1000 records)"), std::string::npos) << svg;
  EXPECT_NE(svg.find(">seconds_per_thousand"), std::string::npos);
  EXPECT_NE(svg.find("records)<"), std::string::npos);
}

TEST(Plot, NamesThatDoNotFitSideBySideAreSlanted) {
  const std::vector<std::string> few{"one", "two"}, long_ones(9, "alignment-faults");
  const std::string straight = Plot("a plot", word_axis("x", few), {"y", 0, 1}).svg();
  EXPECT_EQ(straight.find("rotate(-40)"), std::string::npos);
  EXPECT_NE(straight.find("viewBox=\"0 0 440 270\""), std::string::npos);
  const std::string slanted = Plot("a plot", word_axis("x", long_ones), {"y", 0, 1}).svg();
  EXPECT_EQ(left_ends(slanted,
                      std::regex("translate\\(([0-9.]+) [0-9.]+\\) rotate\\(-40\\)[^>]*>alignment-faults<"))
                .size(),
            9U)
      << slanted;
  EXPECT_EQ(slanted.find("viewBox=\"0 0 440 270\""), std::string::npos) << "higher, for the names";
  const std::vector<std::string> very_many(100, "x5");
  const auto shown = left_ends(Plot("a plot", word_axis("x", very_many), {"y", 0, 1}).svg(),
                               std::regex("translate\\(([0-9.]+) [0-9.]+\\) rotate\\(-40\\)"));
  ASSERT_GT(shown.size(), 2U);
  EXPECT_GE(shown[1] - shown[0], 14) << "some are left out";
}

TEST(HeatMap, RowsAreStandardisedEachForItself) {
  const std::string svg = heat_map("t", {"epoch 1", "epoch 2"},
                                   {{"big", {1e9, 3e9}, {"1", "3"}},
                                    {"small", {3, 1}, {"3", "1"}},
                                    {"same", {7, 7}, {"7", "7"}},
                                    {"gap", {kNan, 4}, {"-", "4"}}},
                                   "epoch");
  EXPECT_NE(svg.find("big, epoch 2&#10;3 (+0.7 deviations)"), std::string::npos) << svg;
  EXPECT_NE(svg.find("small, epoch 2&#10;1 (-0.7 deviations)"), std::string::npos);
  EXPECT_NE(svg.find("same, epoch 1&#10;7 (+0.0 deviations)"), std::string::npos);
  EXPECT_EQ(svg.find("gap, epoch 1"), std::string::npos);
}

TEST(Html, EscapesEverythingThatCouldBeMarkup) {
  EXPECT_EQ(escape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(escape(std::string("a\x01\xff") + "b"), "a\\u0001?b");
  EXPECT_EQ(tip("one\n\"two\""), " data-t=\"one&#10;&quot;two&quot;\"");
  EXPECT_LT(escape(std::string(100000, 'x')).size(), 5000U);
}

TEST(Html, NumbersAreReadable) {
  EXPECT_EQ(number_text(0.97451), "0.9745");
  EXPECT_EQ(number_text(12345), "12345");
  EXPECT_EQ(number_text(12345.6), "12346");
  EXPECT_EQ(number_text(64), "64");
  EXPECT_EQ(number_text(0.000012), "1.2e-05");
  EXPECT_EQ(short_text(Value(std::string("sgd"))), "sgd");
  EXPECT_EQ(count_text(1, "epoch", "epochs"), "1 epoch");
  EXPECT_EQ(count_text(0, "epoch", "epochs"), "0 epochs");
  EXPECT_EQ(rate_text("resident-bytes", 2.5 * kGiB), "2.5 GiB");
  EXPECT_EQ(rate_text("task-clock", 8.8e8), "0.88 CPU s/s");
  EXPECT_EQ(rate_text("written-chars", 1024), "1 KiB/s");
  EXPECT_EQ(rate_text("cache-misses", 45), "45 /s");
  EXPECT_EQ(rate_text("pressure-cpu", 0.5), "50 % of the time");
  EXPECT_EQ(time_unit(Seconds{100}).name, "s");
  EXPECT_EQ(time_unit(Seconds{1000}).name, "min");
  EXPECT_EQ(time_unit(Seconds{50000}).name, "h");
}

TEST(Html, TablesSortByValueNotByText) {
  const std::string html = table({"a<b"}, {{{"1.5 s", "1.5"}}, {word_cell("<i>")}});
  EXPECT_NE(html.find("<th class=\"n\">a&lt;b</th>"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"n\" data-v=\"1.5\">1.5 s</td>"), std::string::npos);
  EXPECT_NE(html.find("<td>&lt;i&gt;</td>"), std::string::npos);
  EXPECT_NE(table({"n"}, {{no_number()}, {no_number()}}, 1)
                .find("<tr class=\"chosen\"><td class=\"n\">–</td></tr>"),
            std::string::npos);
}

}  // namespace
}  // namespace tandem::report
