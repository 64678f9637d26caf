// Small public data that textbooks print, for tests of linear models.
#pragma once

#include <string>
#include <vector>

#include "stats/design/model_matrix.h"

namespace tandem::stats::textbook {

struct Cell {
  std::string a, b;
  std::vector<double> y;
};

struct Data {
  std::vector<std::string> a, b;
  std::vector<double> y;
};

inline Data rows_of(const std::vector<Cell>& cells) {
  Data out;
  for (const auto& cell : cells)
    for (const double y : cell.y) out.a.push_back(cell.a), out.b.push_back(cell.b), out.y.push_back(y);
  return out;
}

inline std::vector<double> numbers(const std::vector<std::string>& words) {
  std::vector<double> out;
  for (const auto& word : words) out.push_back(std::stod(word));
  return out;
}

// Life of batteries by material and temperature: Montgomery, Design and Analysis of Experiments, chapter 5.
inline Data battery() {
  return rows_of({{"1", "15", {130, 155, 74, 180}},
                  {"1", "70", {34, 40, 80, 75}},
                  {"1", "125", {20, 70, 82, 58}},
                  {"2", "15", {150, 188, 159, 126}},
                  {"2", "70", {136, 122, 106, 115}},
                  {"2", "125", {25, 70, 58, 45}},
                  {"3", "15", {138, 110, 168, 160}},
                  {"3", "70", {174, 120, 150, 139}},
                  {"3", "125", {96, 104, 82, 60}}});
}

// Growth of teeth by how vitamin C is given and its dose: Crampton (1947); R's ToothGrowth.
inline Data tooth() {
  return rows_of({{"VC", "0.5", {4.2, 11.5, 7.3, 5.8, 6.4, 10, 11.2, 11.2, 5.2, 7}},
                  {"VC", "1", {16.5, 16.5, 15.2, 17.3, 22.5, 17.3, 13.6, 14.5, 18.8, 15.5}},
                  {"VC", "2", {23.6, 18.5, 33.9, 25.5, 26.4, 32.5, 26.7, 21.5, 23.3, 29.5}},
                  {"OJ", "0.5", {15.2, 21.5, 17.6, 9.7, 14.5, 10, 8.2, 9.4, 16.5, 9.7}},
                  {"OJ", "1", {19.7, 23.3, 23.6, 26.4, 20, 25.2, 25.8, 21.2, 14.5, 27.3}},
                  {"OJ", "2", {25.5, 26.4, 22.4, 24.5, 24.8, 30.9, 26.4, 27.3, 29.4, 23}}});
}

// Breaks of yarn by wool and tension: Tukey (1977); R's warpbreaks. Unbalanced here: the first three of A L,
// the fourth of B L, the fifth of B M and the last of B H are left out.
inline Data warpbreaks() {
  return rows_of({{"A", "L", {25, 70, 52, 51, 26, 67}},
                  {"A", "M", {18, 21, 29, 17, 12, 18, 35, 30, 36}},
                  {"A", "H", {36, 21, 24, 18, 10, 43, 28, 15, 26}},
                  {"B", "L", {27, 14, 29, 29, 31, 41, 20, 44}},
                  {"B", "M", {42, 26, 19, 16, 28, 21, 39, 29}},
                  {"B", "H", {20, 21, 24, 17, 13, 15, 15, 16}}});
}

}  // namespace tandem::stats::textbook
