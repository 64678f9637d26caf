#include "spec/ready_clusters.h"
#include "spec/sim_checks.h"
#include "spec/sim_testing.h"

namespace tandem::spec::sim_testing {
namespace {

std::filesystem::path examples() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "examples";
}

void expect_same_again(const SimJob& job) {
  const std::string written = to_yaml(job);
  const auto [again, issues] = parse(written);
  ASSERT_TRUE(again) << written << listed(issues);
  EXPECT_EQ(*again, job) << written;
}

TEST(SimYaml, IsReadBackAsTheSame) {
  expect_same_again(good(kSmall));
  expect_same_again(good(with(kSmall, "{bandwidth: 12GB/s}",
                              "{kind: cables, switches: 1, cables: [{from: 0, to: 3, bandwidth: 1Gb/s}, "
                              "{from: 1, to: 3, bandwidth: 2GiB/s, latency: 7us}]}")));
  expect_same_again(good(
      with(kSmall, "{bandwidth: 12GB/s}", "{kind: torus, bandwidth: 0.1GB/s, latency: 1.1us, sizes: [3]}")));
}

TEST(SimYaml, ReadsLikeWhatPeopleWrite) {
  const std::string written = to_yaml(good("kind: sim\ncluster: kth\n" + kWorkload));
  for (const char* words :
       {"kind: sim\nname: alexnet-kth\ncluster:\n  name: kth\n",
        "    K80: {kind: gpu, cores: 4992, clock: 824MHz, ", "clock: 3.498GHz", "efficiency: 0.1",
        "memory: 24GB", "memory_bandwidth: 480GB/s", "power: [90W, 334W]",
        "    thin: {devices: {E5-2690v3: 1, K80: 1}}\n", "  nodes: {thin: 9}\n",
        "  network: {kind: star, bandwidth: 12GB/s, latency: 1us}\n", "  storage: {shared: 2GB/s}\n",
        "  - {name: alexnet, model: alexnet, batch: 64, scaling: strong, iterations: 142, ", "seed: 1\n"})
    EXPECT_NE(written.find(words), std::string::npos) << words << "\n" << written;
}

TEST(SimYaml, NumbersWithoutAShortFormStayExact) {
  auto job = good(kSmall);
  job.cluster.network.bandwidth = 1e9 / 3;
  job.cluster.network.latency = 1e-6 / 7;
  job.cluster.devices[0].clock = 1e9 / 7;
  job.cluster.devices[0].memory = 12'345'678'901;
  job.cluster.devices[0].efficiency = 1.0 / 3;
  job.cluster.devices[0].max_watts = 100.0 / 3;
  job.cluster.failures = Failures{Seconds{1e7 / 3}, Seconds{0}};
  job.workloads[0].straggler = 0.1 / 3;
  job.cluster.devices[0].overhead = 1e-5 / 3;
  job.cluster.devices[0].added_core = 2.0 / 3;
  job.workloads[0].device = job.cluster.devices[0].name;
  job.workloads[0].threads = 1;
  job.workloads[0].clock = job.cluster.devices[0].clock;
  job.workloads[0].scheduler = "path-time";
  job.workloads[0].micro_batches = 3;
  job.cluster.network.idle_watts = 1.0 / 3;
  job.cluster.network.max_watts = 2.0 / 3;
  expect_same_again(job);
}

TEST(SimYaml, WordsThatLookLikeSomethingElseAreQuoted) {
  auto job = good(kSmall);
  job.name = "2024";
  job.cluster.name = "true";
  job.cluster.devices[0].name = job.cluster.types[0].devices[0].device = "null";
  job.cluster.types[0].name = job.cluster.nodes[0].type = "1e5";
  job.workloads[0].model.clear();
  job.workloads[0].model_file = "my \"nets\", and {\xc3\xbc}: #1\\.json";
  expect_same_again(job);
}

TEST(ReadyClusters, AreGoodAndSurviveYaml) {
  for (const auto& ready : ready_clusters()) {
    EXPECT_EQ(ready.cluster.name, ready.name);
    EXPECT_FALSE(ready.description.empty()) << ready.name;
    for (const auto& problem : problems(ready.cluster))
      ADD_FAILURE() << ready.name << ": " << path_text(problem.at) << ": " << problem.message;
    auto job = good(kSmall);
    job.cluster = ready.cluster;
    expect_same_again(job);
  }
}

TEST(ReadyClusters, HaveTheHardwareTheyAreNamedAfter) {
  EXPECT_EQ(load_cluster("kth").device_count("K80"), 9);
  EXPECT_EQ(load_cluster("minsky").device_count("P100"), 48);
  EXPECT_EQ(load_cluster("dgx-1").device_count("P100"), 8);
  EXPECT_EQ(load_cluster("k80-cloud").device_count("K80-die"), 64);
  EXPECT_EQ(load_cluster("heats").node_count(), 8);
  EXPECT_NEAR(load_cluster("dgx-1").device("P100")->peak_flops(), 10.6e12, 0.05e12) << "the data sheet's";
}

TEST(Examples, OfSimulationsAreGoodSpecs) {
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(examples())) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("sim-") || !name.ends_with(".yaml")) continue;
    ++seen;
    SCOPED_TRACE(name);
    expect_same_again(load_sim(entry.path(), kCatalogue));
  }
  EXPECT_GE(seen, 5u);
}

TEST(Examples, ThatWriteAReadyClusterOutAgreeWithIt) {
  EXPECT_EQ(load_sim(examples() / "sim-kth-alexnet.yaml", kCatalogue).cluster, load_cluster("kth"));
  EXPECT_EQ(load_sim(examples() / "sim-heats.yaml", kCatalogue).cluster, load_cluster("heats"));
}

}  // namespace
}  // namespace tandem::spec::sim_testing
