#include "sim/trace/trace_csv.h"

#include <array>

#include "sim/trace/trace_testing.h"

namespace tandem::sim {
namespace {

using Fields = std::vector<std::string>;

Fields fields_of(std::string_view line, CsvSeparator separator) {
  Fields fields;
  const char* why = split_line(line, separator, fields);
  EXPECT_EQ(why, nullptr) << why;
  return fields;
}

std::string why_not(std::string_view line, CsvSeparator separator = CsvSeparator::comma) {
  Fields fields;
  const char* why = split_line(line, separator, fields);
  return why ? why : "";
}

TEST(TraceCsv, FieldsMayBeEmptyAndQuoted) {
  EXPECT_EQ(fields_of(R"(a,"b,c","say ""hi""",)", CsvSeparator::comma),
            (Fields{"a", "b,c", R"(say "hi")", ""}));
  EXPECT_EQ(fields_of("", CsvSeparator::comma), (Fields{""}));
  EXPECT_EQ(fields_of(R"("")", CsvSeparator::comma), (Fields{""}));
}

TEST(TraceCsv, QuotesAreOrdinaryBetweenTabs) {
  EXPECT_EQ(fields_of("\"x\tpython -c \"y\"\t1", CsvSeparator::tab), (Fields{"\"x", "python -c \"y\"", "1"}));
}

TEST(TraceCsv, WordsAreBetweenAnyNumberOfBlanks) {
  EXPECT_EQ(fields_of("  1   -1\t2.5 ", CsvSeparator::blanks), (Fields{"1", "-1", "2.5"}));
}

TEST(TraceCsv, BrokenQuotesAreTold) {
  EXPECT_EQ(why_not(R"(a,"b)"), "a quote is not closed");
  EXPECT_EQ(why_not(R"(a,b"c)"), "a quote is inside a field");
  EXPECT_EQ(why_not(R"(a,"b"c)"), "text follows a closing quote");
}

TEST(TraceCsv, LinesAndFieldsHaveLimits) {
  EXPECT_EQ(why_not(std::string(kLongestLine, 'x')), "");
  EXPECT_EQ(why_not(std::string(kLongestLine + 1, 'x')), "the line is longer than 64 KiB");
  EXPECT_EQ(why_not(std::string(kMostFields - 1, ',')), "");
  EXPECT_EQ(why_not(std::string(kMostFields, ',')), "the line has more than 256 fields");
  std::string words;
  for (std::size_t i = 0; i <= kMostFields; ++i) words += "1 ";
  EXPECT_EQ(why_not(words, CsvSeparator::blanks), "the line has more than 256 fields");
}

TEST(TraceCsv, LineEndsOfAnyKind) {
  CsvLines lines("\xef\xbb\xbfone\r\n\r\n  \n; a comment\ntwo\nthree", ';');
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.line(), "one");
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.line(), "two");
  EXPECT_EQ(lines.number(), 5u);
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.line(), "three");
  EXPECT_FALSE(lines.next());
  EXPECT_FALSE(lines.next());
}

TEST(TraceCsv, NumbersAreFiniteAndWhole) {
  EXPECT_EQ(parse_finite(" -7.5 "), -7.5);
  EXPECT_EQ(parse_finite("1e300"), 1e300);
  for (const char* bad : {"", "nan", "inf", "-inf", "1e999", "12x", "0x10", "1 2", "+"})
    EXPECT_FALSE(parse_finite(bad)) << bad;
}

TEST(TraceCsv, DatesAreSecondsSince1970) {
  EXPECT_EQ(parse_date("1970-01-01 00:00:00"), 0);
  EXPECT_EQ(parse_date("2020-06-09 18:41:01"), 1591728061);
  EXPECT_EQ(parse_date("2020-06-09T18:41:01"), 1591728061);
  for (const char* bad : {"", "None", "2020-06-09", "2020-02-30 00:00:00", "2020-13-01 00:00:00",
                          "2020-06-09 24:00:00", "2020-06-09 18:61:01", "-020-06-09 18:41:01",
                          "0000-06-09 18:41:01", "2020/06/09 18:41:01", "2020-06-09 18:41:0x"})
    EXPECT_FALSE(parse_date(bad)) << bad;
}

constexpr std::array<std::string_view, 3> kColumns{"name", "size", "at"};

TEST(TraceCsv, ColumnsAreFoundWhereverTheyAre) {
  auto table =
      CsvTable::with_header("at, name ,other,size\r\n2020-06-09 18:41:01,a,x,7\r\n", "t.csv", kColumns);
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.text(0), "a");
  EXPECT_EQ(table.whole(1, 10), 7);
  EXPECT_EQ(table.date(2), 1591728061);
  EXPECT_FALSE(table.trouble());
  EXPECT_EQ(table.line(), 2u);
  EXPECT_FALSE(table.next());
}

TEST(TraceCsv, AMissingColumnIsNamed) {
  const auto said = complaint([] { CsvTable::with_header("name,at\n", "t.csv", kColumns); });
  EXPECT_MENTIONS(said, "t.csv");
  EXPECT_MENTIONS(said, "no column 'size'");
  EXPECT_MENTIONS(complaint([] { CsvTable::with_header("\n\n", "t.csv", kColumns); }), "empty");
}

TEST(TraceCsv, TheFirstTroubleOfALineIsKept) {
  auto table = CsvTable::with_header("name,size,at\na,x,y\nb,3,2020-06-09 18:41:01\n", "t.csv", kColumns);
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.number(1, 0, 9), 0);
  EXPECT_EQ(table.date(2), 0);
  ASSERT_TRUE(table.trouble());
  EXPECT_EQ(table.trouble()->reason, "size is not a number");
  EXPECT_EQ(table.trouble()->detail, "'x'");
  ASSERT_TRUE(table.next());
  EXPECT_FALSE(table.trouble());
}

// The trouble of a line "a,FIELD,x" whose size is asked for.
std::string trouble_with(const std::string& field) {
  const std::string text = "name,size,at\na," + field + ",x\n";
  auto table = CsvTable::with_header(text, "t.csv", kColumns);
  EXPECT_TRUE(table.next());
  table.whole(1, 100);
  return table.trouble() ? table.trouble()->reason : "";
}

TEST(TraceCsv, FieldsThatAreNotAsAskedAreTold) {
  EXPECT_EQ(trouble_with("100"), "");
  EXPECT_EQ(trouble_with("101"), "size is out of range");
  EXPECT_EQ(trouble_with("1e300"), "size is out of range");
  EXPECT_EQ(trouble_with("-1"), "size is out of range");
  EXPECT_EQ(trouble_with("2.5"), "size is not a whole number");
  EXPECT_EQ(trouble_with("many"), "size is not a number");
  EXPECT_EQ(trouble_with(""), "size is missing");
  EXPECT_EQ(trouble_with("nan"), "size is missing");
  EXPECT_EQ(trouble_with("1,2"), "the line has too many fields");
}

TEST(TraceCsv, ACutOffLineReadsAsNothing) {
  auto table = CsvTable::with_header("name,size,at\na,1", "t.csv", kColumns);
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.text(0), "");
  EXPECT_EQ(table.whole(1, 9), 0);
  ASSERT_TRUE(table.trouble());
  EXPECT_EQ(table.trouble()->reason, "the line has too few fields");
  EXPECT_EQ(table.trouble()->detail, "2 instead of 3");
}

}  // namespace
}  // namespace tandem::sim
