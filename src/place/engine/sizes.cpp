#include "place/engine/sizes.h"

#include <algorithm>

namespace tandem::place {
namespace {

// The next larger one that helps, of no more than `most` cores.
std::optional<std::size_t> next_larger(const std::vector<Option>& sizes, std::size_t now, int most) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int cores = sizes[i].resources.cores;
    if (cores <= sizes[now].resources.cores || cores > most) continue;
    if (sizes[i].seconds >= kWorthIt * sizes[now].seconds) continue;
    if (!best || cores < sizes[*best].resources.cores ||
        (cores == sizes[*best].resources.cores && sizes[i].seconds < sizes[*best].seconds))
      best = i;
  }
  return best;
}

}  // namespace

std::vector<Option> sizes_of(const TaskView& task) {
  if (task.alive && task.keeps_size) {
    double seconds = 1;
    for (const auto& option : task.options)
      if (option.resources.cores == task.granted.cores) seconds = option.seconds;
    return {{task.granted, seconds}};
  }
  if (task.options.empty()) return {{task.wanted, 1.0}};
  auto sizes = task.options;
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const Option& a, const Option& b) { return a.resources.cores < b.resources.cores; });
  return sizes;
}

std::size_t thriftiest(const std::vector<Option>& sizes) {
  const auto cost = [](const Option& size) { return size.resources.cores * size.seconds; };
  const auto best = std::min_element(sizes.begin(), sizes.end(),
                                     [&](const Option& a, const Option& b) { return cost(a) < cost(b); });
  return static_cast<std::size_t>(best - sizes.begin());
}

std::vector<std::size_t> modest_sizes(const std::vector<Option>& sizes) {
  const std::size_t first = thriftiest(sizes);
  const auto cores = [&](std::size_t i) { return sizes[i].resources.cores; };
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (i != first && cores(i) <= cores(first)) out.push_back(i);
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) { return cores(a) > cores(b); });
  out.insert(out.begin(), first);
  return out;
}

int least_cores(const std::vector<Option>& sizes) {
  return sizes.front().resources.cores;
}

std::vector<std::size_t> deal_cores(std::span<const Sharer> all, int cores) {
  std::vector<std::size_t> share;
  for (const auto& sharer : all) {
    share.push_back(thriftiest(*sharer.sizes));
    cores -= (*sharer.sizes)[share.back()].resources.cores;
  }
  const auto left = [&](std::size_t i) {
    return static_cast<double>(all[i].epochs_left) * (*all[i].sizes)[share[i]].seconds;
  };
  std::vector<bool> settled(all.size(), false);
  while (true) {
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!settled[i] && (!last || left(i) > left(*last))) last = i;
    if (!last) return share;
    const auto& sizes = *all[*last].sizes;
    const int now = sizes[share[*last]].resources.cores;
    if (const auto more = next_larger(sizes, share[*last], now + std::max(cores, 0))) {
      cores -= sizes[*more].resources.cores - now;
      share[*last] = *more;
    } else {
      settled[*last] = true;
    }
  }
}

}  // namespace tandem::place
