#include "spec/parse_sim.h"

#include <unistd.h>

#include <fstream>

#include "base/error.h"
#include "spec/field.h"
#include "spec/ready_clusters.h"
#include "spec/sim_testing.h"

namespace tandem::spec::sim_testing {
namespace {

const char* const kWhole = R"(
kind: sim
name: kth-alexnet
cluster:
  name: kth
  devices:
    E5-2690v3: {kind: cpu, cores: 24, clock: 3.498GHz, memory: 512GB, memory_bandwidth: 68GB/s,
                power: [84W, 135W]}
    K80: {kind: gpu, cores: 4992, clock: 824MHz, flops_a_cycle: 4, memory: 24GiB, memory_bandwidth: 480GB/s,
          power: [90W, 334W], efficiency: 5%, clocks: [705MHz, 562MHz, 705MHz]}
  node_types:
    thin: {devices: {E5-2690v3: 1, K80: 2}, pcie: 11GB/s, gpus_an_uplink: 2, nvlink: 20GB/s, storage: 500MB/s,
           feed: 14GB/s}
    bare: {devices: {E5-2690v3: 2}}
  nodes: {thin: 8, bare: 1}
  network: {kind: fat-tree, bandwidth: 100Gb/s, latency: 5us, nodes_a_leaf: 4, uplink: 24GB/s}
  storage: {shared: 2GB/s}
  failures: {between: 100d, repair: 4h}
workloads:
  - {model: alexnet, batch: 64, iterations: 142, strategy: all-reduce, workers: 4, scaling: strong,
     sample_bytes: 14kB, samples: 9144}
  - name: servers
    model_file: nets/mine.json
    batch: 32
    scaling: weak
    epochs: 1.5
    samples: 9144
    strategy: parameter-server
    workers: 16
    servers: 3
    synchronous: false
    variables: gpu
    overlap: false
    device: K80
    straggler: 1.5%
seed: 7
)";

SimJob whole_job() {
  SimJob job;
  job.name = "kth-alexnet";
  DeviceType cpu, gpu;
  cpu.name = "E5-2690v3";
  cpu.cores = 24;
  cpu.clock = 3.498e9;
  cpu.memory = 512'000'000'000;
  cpu.memory_bandwidth = 68e9;
  cpu.idle_watts = 84;
  cpu.max_watts = 135;
  gpu.name = "K80";
  gpu.gpu = true;
  gpu.cores = 4992;
  gpu.clock = 824e6;
  gpu.flops_a_cycle = 4;
  gpu.efficiency = 0.05;
  gpu.memory = 24 * kGiB;
  gpu.memory_bandwidth = 480e9;
  gpu.idle_watts = 90;
  gpu.max_watts = 334;
  gpu.clocks = {562e6, 705e6};
  NodeType thin, bare;
  thin.name = "thin";
  thin.devices = {{"E5-2690v3", 1}, {"K80", 2}};
  thin.pcie = 11e9;
  thin.gpus_an_uplink = 2;
  thin.nvlink = 20e9;
  thin.storage = 500e6;
  thin.feed = 14e9;
  bare.name = "bare";
  bare.devices = {{"E5-2690v3", 2}};
  Cluster& cluster = job.cluster;
  cluster.name = "kth";
  cluster.devices = {cpu, gpu};
  cluster.types = {thin, bare};
  cluster.nodes = {{"thin", 8}, {"bare", 1}};
  cluster.network.kind = "fat-tree";
  cluster.network.bandwidth = 12.5e9;
  cluster.network.latency = 5 * 1e-6;
  cluster.network.nodes_a_leaf = 4;
  cluster.network.uplink = 24e9;
  cluster.shared_storage = 2e9;
  cluster.failures = Failures{Seconds{100 * 86400.0}, Seconds{4 * 3600.0}};
  Workload first, second;
  first.name = first.model = "alexnet";
  first.batch = 64;
  first.iterations = 142;
  first.strategy = "all-reduce";
  first.workers = 4;
  first.sample_bytes = 14'000;
  first.samples = 9144;
  second.name = "servers";
  second.model_file = "nets/mine.json";
  second.batch = 32;
  second.strong = second.synchronous = second.overlap = false;
  second.epochs = 1.5;
  second.samples = 9144;
  second.strategy = "parameter-server";
  second.workers = 16;
  second.servers = 3;
  second.variables_on_gpu = true;
  second.device = "K80";
  second.straggler = 0.015;
  job.workloads = {first, second};
  job.seed = 7;
  return job;
}

TEST(ParseSim, AWholeSpec) {
  EXPECT_EQ(good(kWhole), whole_job());
}

TEST(ParseSim, CountsNodesAndDevices) {
  const auto job = whole_job();
  EXPECT_EQ(job.cluster.node_count(), 9);
  EXPECT_EQ(job.cluster.device_count("K80"), 16);
  EXPECT_EQ(job.cluster.device_count("E5-2690v3"), 10);
  EXPECT_EQ(job.cluster.device_count("V100"), 0);
  EXPECT_EQ(computes_on(job.workloads[0], job.cluster)->name, "K80") << "the first GPU";
  auto cluster = job.cluster;
  cluster.nodes = {{"bare", 1}};
  EXPECT_EQ(computes_on(job.workloads[0], cluster)->name, "E5-2690v3") << "no node has a GPU";
  EXPECT_EQ(computes_on(job.workloads[0], Cluster{}), nullptr);
}

TEST(ParseSim, WhatIsLeftOutGetsDefaults) {
  const auto job = good(kSmall);
  EXPECT_EQ(job.name, "alexnet-cluster");
  EXPECT_EQ(job.cluster.name, "cluster");
  EXPECT_EQ(job.cluster.types[0].pcie, 12e9);
  EXPECT_EQ(job.cluster.network.kind, "star");
  EXPECT_FALSE(job.cluster.failures);
  Workload expected;
  expected.name = expected.model = "alexnet";
  expected.batch = 64;
  expected.iterations = 142;
  EXPECT_EQ(job.workloads, std::vector<Workload>{expected});
  EXPECT_EQ(job.seed, 1u);
}

TEST(ParseSim, WorkloadsWithoutANameGetOne) {
  const auto job = good("kind: sim\n" + kCluster + R"(workloads:
  - {model: alexnet, batch: 1, iterations: 1}
  - {model: alexnet, batch: 1, iterations: 1}
  - {model: lenet5, batch: 1, iterations: 1, name: alexnet-2}
  - {model_file: nets/my net.json, batch: 1, iterations: 1}
  - {model_file: nets/.json, batch: 1, iterations: 1}
)");
  std::vector<std::string> names;
  for (const auto& workload : job.workloads) names.push_back(workload.name);
  EXPECT_EQ(names, (std::vector<std::string>{"alexnet", "alexnet-3", "alexnet-2", "my-net", "workload"}));
}

// Rows of `fields` that have a default say the same as when they are left out, written by `put`.
template <class Put>
std::size_t expect_defaults(const std::vector<Field>& fields, Put put) {
  const auto base = good(kSmall);
  std::size_t seen = 0;
  for (const auto& field : fields) {
    if (field.fallback.empty()) continue;
    ++seen;
    EXPECT_EQ(good(put(field.name + ": " + field.fallback)), base) << field.name;
  }
  return seen;
}

TEST(ParseSim, DefaultsInTheTablesAreThoseOfTheValues) {
  const auto after = [](const std::string& words) {
    return [words](const std::string& pair) { return with(kSmall, words, words + ", " + pair); };
  };
  auto cluster = cluster_fields();
  std::size_t seen = expect_defaults(workload_fields(kCatalogue), after("iterations: 142"));
  seen += expect_defaults(field_at(cluster, "devices").fields[0].fields, after("clock: 824MHz"));
  seen += expect_defaults(field_at(cluster, "node_types").fields[0].fields, after("gpu1: 2}"));
  seen += expect_defaults(field_at(cluster, "network").fields, after("bandwidth: 12GB/s"));
  seen += expect_defaults(cluster, [](const std::string& pair) {
    return with(kSmall, "cluster:\n", "cluster:\n  " + pair + "\n");
  });
  EXPECT_EQ(seen, 19u);
  EXPECT_EQ(good(kSmall + "seed: 1\n"), good(kSmall));
}

TEST(ParseSim, ReportsEverythingAtOnceInOrder) {
  const auto [job, issues] = parse(R"(kind: sim
nmae: x
cluster:
  devices:
    K80: {kind: tpu, cores: 0, clock: 824, colour: red}
    "a b": {kind: cpu, cores: 1, clock: 1GHz}
  node_types:
    thin: {devices: {K8O: 1}, pcie: 12GB}
  nodes: {thick: 9}
  network: {kind: star, latency: 1}
  failures: {between: 100d}
workloads:
  - {model: alexnett, batch: 0, strategy: all-reduse}
  - {batch: 64, iterations: 5, epochs: 2, workers: two}
sed: 1
)");
  EXPECT_FALSE(job);
  std::vector<std::string> found;
  for (const auto& issue : issues) found.push_back(std::to_string(issue.line) + " " + issue.path);
  EXPECT_EQ(found, (std::vector<std::string>{
                       "2 nmae",
                       "5 cluster.devices.K80.kind",
                       "5 cluster.devices.K80.cores",
                       "5 cluster.devices.K80.clock",
                       "5 cluster.devices.K80.colour",
                       "6 cluster.devices.a b",
                       "8 cluster.node_types.thin.devices.K8O",
                       "8 cluster.node_types.thin.pcie",
                       "9 cluster.nodes.thick",
                       "10 cluster.network.bandwidth",
                       "10 cluster.network.latency",
                       "11 cluster.failures.repair",
                       "13 workloads[0].iterations",
                       "13 workloads[0].model",
                       "13 workloads[0].batch",
                       "13 workloads[0].strategy",
                       "14 workloads[1].model",
                       "14 workloads[1].samples",
                       "14 workloads[1].iterations",
                       "14 workloads[1].workers",
                       "15 sed",
                   }))
      << listed(issues);
}

TEST(ParseSim, QuantitiesHaveUnits) {
  const auto network = [](const std::string& written) {
    return good(with(kSmall, "12GB/s", written)).cluster.network.bandwidth;
  };
  EXPECT_EQ(network("10Gb/s"), 1.25e9);
  EXPECT_EQ(network("800 MiB/s"), 800. * 1024 * 1024);
  expect_issue(with(kSmall, "12GB/s", "12"), "12}",
               "cluster.network.bandwidth: '12' needs a unit: write it like 12GB/s or 10Gb/s");
  expect_issue(with(kSmall, "12GB/s", "12GB"), "12GB",
               "cluster.network.bandwidth: must be a bandwidth such as 12GB/s or 10Gb/s, not '12GB'");
  expect_issue(with(kSmall, "12GB/s", "0GB/s"), "0GB/s", "cluster.network.bandwidth: must be above 0 B/s");
  expect_issue(with(kSmall, "824MHz", "824"), "824}",
               "cluster.devices.gpu1.clock: '824' needs a unit: write it like 824MHz or 1.2GHz");
  expect_issue(with(kSmall, "824MHz", "0Hz"), "0Hz", "cluster.devices.gpu1.clock: must be above 0 Hz");
}

TEST(ParseSim, DevicesMakeSense) {
  const auto refuse = [](const std::string& pair, const std::string& words, const std::string& issue) {
    expect_issue(with(kSmall, "824MHz", "824MHz, " + pair), words, "cluster.devices.gpu1." + issue);
  };
  refuse("power: [90W]", "[90W]", "power: must have 2 items, not 1");
  refuse("power: 90W", "90W", "power: must be a list, each item a power such as 95W, not '90W'");
  refuse("power: [90, 334W]", "90,", "power[0]: '90' needs a unit: write it like 95W");
  refuse("power: [334W, 90W]", "[334W",
         "power: idle comes first and is at most the full power, but 334 W is above 90 W");
  refuse("clocks: [562MHz, 824MHz]", "[562MHz",
         "clocks: must be below the full clock, but 824 MHz is not below 824 MHz");
  refuse("efficiency: 80", "80}",
         "efficiency: must be at least 0.01% and at most 1000%, not '80'; write 80%");
  refuse("memory: 24", "24}", "memory: '24' needs a unit");
  EXPECT_EQ(good(with(kSmall, "824MHz", "824MHz, efficiency: 120%")).cluster.devices[1].efficiency, 1.2);
}

TEST(ParseSim, AClockIsOneOfTheDevices) {
  const std::string steps = with(kSmall, "824MHz", "824MHz, clocks: [562MHz]");
  const auto at = [&](const std::string& clock) {
    return with(steps, "iterations: 142", "iterations: 142, clock: " + clock);
  };
  EXPECT_EQ(good(at("562MHz")).workloads[0].clock, 562e6);
  EXPECT_EQ(good(at("824MHz")).workloads[0].clock, 824e6);
  expect_issue(at("600MHz"), "600MHz",
               "workloads[0].clock: gpu1 cannot run at 600 MHz, only at 562 MHz, 824 MHz");
}

TEST(ParseSim, ThreadsAreCoresOfAProcessor) {
  const std::string cpu = with(kSmall, "iterations: 142", "iterations: 142, device: cpu1, threads: 1");
  EXPECT_EQ(good(cpu).workloads[0].threads, 1);
  expect_issue(with(kSmall, "iterations: 142", "iterations: 142, threads: 1"), "1}",
               "workloads[0].threads: is for processors; gpu1 is a GPU");
  expect_issue(with(cpu, "threads: 1", "threads: 9999"), "9999",
               "workloads[0].threads: 9999 are more than the");
  const auto device =
      good(with(kSmall, "824MHz", "824MHz, overhead: 25us, added_core: 30%")).cluster.devices[1];
  EXPECT_DOUBLE_EQ(device.overhead, 25e-6);
  EXPECT_DOUBLE_EQ(device.added_core, 0.3);
}

TEST(ParseSim, NamesThatAreUsedExist) {
  expect_issue(with(kSmall, "gpu1: 2", "gpu2: 2"), "2}}",
               "cluster.node_types.thin.devices.gpu2: 'gpu2' is not one of the cluster's devices: cpu1, gpu1 "
               "(did you mean 'gpu1'?)");
  expect_issue(with(kSmall, "{thin: 3}", "{thick: 3}"), "3}",
               "cluster.nodes.thick: 'thick' is not one of the cluster's node types: thin (did you mean "
               "'thin'?)");
  expect_issue(with(kSmall, "{thin: 3}", "{thin: 0}"), "0}",
               "cluster.nodes.thin: must be at least 1 and at most 1000000, not '0'");
  expect_issue(with(kSmall, "{thin: 3}", "{}"), "{}", "cluster.nodes: must have 1 to 1000 entries, not 0");
  expect_issue(with(kSmall, "{thin: 3}", "9"), "9\n",
               "cluster.nodes: must be a map of names, each with a whole number, not '9'");
}

TEST(ParseSim, NodesAreConnected) {
  const std::string line = "  network: {bandwidth: 12GB/s}\n";
  const auto network = [&](const std::string& written) {
    return with(kSmall, line, "  network: " + written + "\n");
  };
  EXPECT_EQ(good(with(with(kSmall, line, ""), "{thin: 3}", "{thin: 1}")).cluster.network, NetworkSpec{})
      << "one node needs none";
  expect_issue(with(kSmall, line, ""),
               "devices:", "cluster.network.bandwidth: is needed to connect 3 nodes, such as 12GB/s");
  expect_issue(network("{latency: 1us}"), "{latency", "cluster.network.bandwidth: is needed to connect");
  expect_issue(network("{bandwidth: 1GB/s, sizes: [3]}"), "[3]",
               "cluster.network.sizes: is for kind: torus only, not for star");
  expect_issue(network("{kind: tree, sizes: [3], bandwidth: 1GB/s}"), "tree",
               "cluster.network.kind: 'tree' is not one of: star, fat-tree, torus, cables");

  EXPECT_EQ(good(network("{kind: torus, bandwidth: 1GB/s, sizes: [3, 1]}")).cluster.network.sizes,
            (std::vector<int>{3, 1}));
  expect_issue(network("{kind: torus, bandwidth: 1GB/s, sizes: [2, 2]}"), "[2, 2]",
               "cluster.network.sizes: multiplied must give the 3 nodes of the cluster, but give more");
  expect_issue(network("{kind: torus, bandwidth: 1GB/s}"), "{kind: torus",
               "cluster.network.sizes: are needed");

  good(network("{kind: fat-tree, bandwidth: 1GB/s, nodes_a_leaf: 2, uplink: 2GB/s}"));
  EXPECT_EQ(parse(network("{kind: fat-tree, bandwidth: 1GB/s}")).issues.size(), 2u);
}

TEST(ParseSim, CablesLeadSomewhere) {
  const auto cables = [](const std::string& last) {
    return with(kSmall, "{bandwidth: 12GB/s}",
                "{kind: cables, switches: 1, cables: [{from: 0, to: 3, bandwidth: 1GB/s}, "
                "{from: 1, to: 3, bandwidth: 2GB/s, latency: 5us}, " +
                    last + "]}");
  };
  const auto network = good(cables("{from: 2, to: 3, bandwidth: 1GB/s}")).cluster.network;
  ASSERT_EQ(network.cables.size(), 3u);
  EXPECT_EQ(network.cables[1], (NetworkSpec::CableSpec{1, 3, 2e9, 5 * 1e-6}));
  expect_issue(cables("{from: 2, to: 4, bandwidth: 1GB/s}"), "4, bandwidth: 1GB/s}]",
               "cluster.network.cables[2].to: there is no 4: 3 nodes and 1 switches make 0 to 3");
  expect_issue(cables("{from: 2, to: 2, bandwidth: 1GB/s}"), "2, bandwidth: 1GB/s}]",
               "cluster.network.cables[2].to: a cable leads somewhere else");
  expect_issue(cables("{from: 2, to: 3}"), "{from: 2", "cluster.network.cables[2].bandwidth: is required");
  expect_issue(with(kSmall, "12GB/s", "12GB/s, kind: cables, cables: [{from: 0, to: 1, bandwidth: 1GB/s}]"),
               "12GB/s",
               "cluster.network.bandwidth: is for kind: star, fat-tree or torus only, not for cables");
}

TEST(ParseSim, WorkloadsSayWhatAndHowLong) {
  const auto refuse = [](const std::string& workload, const std::string& words, const std::string& issue) {
    expect_issue("kind: sim\n" + kCluster + "workloads: [{" + workload + "}]\n", words,
                 "workloads[0]." + issue);
  };
  refuse("model: alexnet, batch: 64", "{model",
         "iterations: say how long it trains: iterations: N, or epochs: N with samples: N");
  refuse("model: alexnet, batch: 64, iterations: 142, epochs: 1, samples: 9", "142",
         "iterations: give either iterations or epochs, not both");
  refuse("model: alexnet, batch: 64, epochs: 1", "{model", "samples: are needed with epochs");
  refuse("model: alexnet, batch: 64, epochs: many", "many", "epochs: must be a number");
  refuse("model: alexnet, iterations: 1", "{model", "batch: is required: samples a step");
  refuse("batch: 64, iterations: 1", "{batch", "model: say what is trained");
  refuse("model: alexnet, model_file: x.json, batch: 64, iterations: 1", "alexnet,",
         "model: give either model or model_file, not both");
  refuse("model: alexnett, batch: 64, iterations: 1", "alexnett",
         "model: 'alexnett' is not one of: lenet5, alexnet, vgg19");
  refuse("model: alexnet, batch: 64, iterations: 1, strategy: mirrored", "mirrored",
         "strategy: 'mirrored' is not one of: default, parameter-server, replicated");
  refuse("model: alexnet, batch: 64, iterations: 1, scaling: some", "some", "scaling: 'some' is not one of");
  refuse(R"(model_file: "a\tb", batch: 64, iterations: 1)", "\"a",
         "model_file: a file name here has no control characters");
  expect_issue("kind: sim\n" + kCluster + "workloads: []\n", "[]",
               "workloads: must have 1 to 10000 items, not 0");
  expect_issue("kind: sim\n" + kCluster + "workloads: {model: alexnet}\n", "{model: alexnet}",
               "workloads: must be a list, each item a map of keys and values, not a map");
  expect_issue(kSmall + "  - {name: alexnet, model: lenet5, batch: 1, iterations: 1}\n" +
                   "  - {name: alexnet, model: lenet5, batch: 2, iterations: 1}\n",
               "alexnet, model: lenet5, batch: 2", "workloads[2].name: is that of workloads[1] already");
}

TEST(ParseSim, WorkloadsFitTheCluster) {
  const auto refuse = [](const std::string& pair, const std::string& words, const std::string& issue) {
    expect_issue(with(kSmall, "iterations: 142", "iterations: 142, " + pair), words, "workloads[0]." + issue);
  };
  good(with(kSmall, "iterations: 142", "iterations: 142, workers: 6"));
  refuse("workers: 7", "7}", "workers: 7 are more than there are devices: cluster 'cluster' has 6 of gpu1");
  refuse("workers: 4, device: cpu1", "4, device",
         "workers: 4 are more than there are devices: cluster 'cluster' has 3 of cpu1");
  refuse("device: gpu9", "gpu9",
         "device: 'gpu9' is not one of the cluster's devices: cpu1, gpu1 (did you mean 'gpu1'?)");
  refuse("sample_bytes: 14kB", "14kB",
         "sample_bytes: samples are read from storage, but the cluster has none");
  const std::string reads = with(kSmall, "iterations: 142", "iterations: 142, sample_bytes: 14kB");
  EXPECT_EQ(good(with(reads, "workloads", "  storage: {shared: 2GB/s}\nworkloads")).cluster.shared_storage,
            2e9);
  EXPECT_EQ(good(with(reads, "gpu1: 2}", "gpu1: 2}, storage: 2GB/s")).cluster.types[0].storage, 2e9);
}

TEST(ParseSim, AnEmptyCatalogueTakesAnyName) {
  const auto text = with(kSmall, "alexnet", "mine");
  EXPECT_EQ(parse_sim(text, "f", Catalogue{}).job->workloads[0].model, "mine");
  EXPECT_FALSE(parse_sim(with(kSmall, "alexnet", "'a b'"), "f", Catalogue{}).job);
}

TEST(ParseSim, WhatWasReportedOnceIsNotReportedAgain) {
  expect_issue(with(kSmall, "12GB/s", "&x 12GB/s"), "&x", "anchors");
  expect_issue(with(kSmall, "142", "!!int 142"), "!!int", "tags");
  expect_issue("kind: sim\ncluster: &x kth\n" + kWorkload, "&x", "anchors");
  expect_issue("kind: sim\ncluster: [kth]\n" + kWorkload, "[kth]",
               "cluster: must be a map of keys and values");
  expect_issue("kind: sim\n" + kWorkload, "kind", "cluster: is required");
}

TEST(ParseSim, KindsBelongToTheirCommand) {
  expect_issue("kind: tune\n", "tune", "kind: is tune, which `tandem tune` runs; here it must be sim");
  expect_issue("kind: cluster\n", "cluster",
               "kind: is cluster, which a simulation names (cluster: FILE); here it must be sim");
  expect_issue("kind: simm\n", "simm",
               "kind: 'simm' is not a kind this version of Tandem can run; known kinds: train, tune, "
               "characterize, sim "
               "(did you mean 'sim'?)");
  const auto cluster = parse_cluster("kind: sim\n", "c.yaml");
  ASSERT_EQ(cluster.issues.size(), 1u);
  EXPECT_EQ(text(cluster.issues[0]),
            "c.yaml:1:7: kind: is sim, which `tandem sim` runs; here it must be cluster");
}

TEST(ParseSim, ClustersHaveNames) {
  const auto job = good("kind: sim\ncluster: kth\n" + kWorkload);
  EXPECT_EQ(job.cluster.name, "kth");
  EXPECT_EQ(job.cluster.node_count(), 9);
  EXPECT_EQ(job.name, "alexnet-kth");
  expect_issue("kind: sim\ncluster: minskey\n" + kWorkload, "minskey",
               "cluster: 'minskey' is not a ready cluster: there are kth, minsky, dgx-1, k80-cloud, heats "
               "(did you mean 'minsky'?); a file of your own ends in .yaml");
  expect_issue("kind: sim\ncluster: 5\n" + kWorkload, "5\n",
               "cluster: must be a word, or a map of keys and values, not '5'");
  expect_issue("kind: sim\ncluster: mine.yaml\n" + kWorkload, "mine", "cluster: 'mine.yaml' is not a ready");
  expect_issue("kind: sim\ncluster: kth\n" + with(kWorkload, "142", "142, workers: 10"), "10}",
               "workloads[0].workers: 10 are more than there are devices: cluster 'kth' has 9 of K80");
}

// kCluster as a file of its own.
const char* const kFile = R"(kind: cluster
name: mine
devices:
  cpu1: {kind: cpu, cores: 24, clock: 3.5GHz}
node_types:
  thin: {devices: {cpu1: 1}}
nodes: {thin: 3}
network: {bandwidth: 12GB/s}
)";

TEST(ParseSim, ClustersMayBeFiles) {
  const std::string written = "kind: sim\ncluster: folder/mine.yaml\n" + kWorkload;
  const auto reading = [&](const std::string& content) {
    return parse_sim(written, "job.yaml", kCatalogue, [&](const std::string& file) {
      EXPECT_EQ(file, "folder/mine.yaml");
      return FileText{"there/" + file, content};
    });
  };
  const auto read = reading(kFile);
  ASSERT_TRUE(read.job) << listed(read.issues);
  EXPECT_EQ(read.job->cluster, *parse_cluster(kFile, "f").cluster);
  EXPECT_EQ(read.job->name, "alexnet-mine");

  const auto bad = reading(with(kFile, "{thin: 3}", "{thinn: 3}"));
  EXPECT_FALSE(bad.job);
  ASSERT_EQ(bad.issues.size(), 1u) << listed(bad.issues);
  EXPECT_EQ(text(bad.issues[0]),
            "there/folder/mine.yaml:7:16: nodes.thinn: 'thinn' is not one of the cluster's node types: thin "
            "(did you mean 'thin'?)");

  const auto absent = parse_sim(written, "job.yaml", kCatalogue, [](const std::string& file) -> FileText {
    throw UserError("cannot read " + file);
  });
  ASSERT_EQ(absent.issues.size(), 1u);
  EXPECT_EQ(text(absent.issues[0]), "job.yaml:2:10: cluster: cannot read folder/mine.yaml");
}

TEST(ParseSim, FilesAreBesideTheSpec) {
  std::string name = (std::filesystem::temp_directory_path() / "tandem-spec-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(name.data());
  std::ofstream(folder / "mine.yaml") << kFile;
  std::ofstream(folder / "job.yaml") << "kind: sim\ncluster: ./mine.yaml\nworkloads:\n"
                                        "  - {model_file: net.json, batch: 1, iterations: 1}\n";
  const auto job = load_sim(folder / "job.yaml", kCatalogue);
  EXPECT_EQ(job.cluster.name, "mine");
  EXPECT_EQ(job.workloads[0].model_file, (folder / "net.json").string());
  EXPECT_EQ(load_cluster((folder / "mine.yaml").string()), job.cluster);
  EXPECT_EQ(load_cluster("kth").name, "kth");
  EXPECT_THROW(load_cluster("kthh"), UserError);
  EXPECT_THROW(load_cluster((folder / "absent.yaml").string()), UserError);
  EXPECT_THROW(load_cluster((folder / "job.yaml").string()), UserError) << "of another kind";
  EXPECT_THROW(load_sim(folder / "mine.yaml", kCatalogue), UserError);
  std::filesystem::remove_all(folder);
}

TEST(ParseSim, AKeyCanBeSetLater) {
  auto job = good(kSmall);
  auto& workload = job.workloads[0];
  set_key(workload, "workers", "6", kCatalogue);
  set_key(workload, "scaling", "weak", kCatalogue);
  set_key(workload, "strategy", "all-reduce", kCatalogue);
  EXPECT_EQ(workload.workers, 6);
  EXPECT_FALSE(workload.strong);
  EXPECT_EQ(workload.batch, 64) << "the others stay";
  check(job);
  const auto refusal = [](auto act) -> std::string {
    try {
      act();
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal([&] { set_key(workload, "workers", "x", kCatalogue); }),
            "workers: must be a whole number, not 'x'");
  EXPECT_NE(refusal([&] { set_key(workload, "wrkers", "2", kCatalogue); }).find("did you mean 'workers'?"),
            std::string::npos);
  set_key(workload, "workers", "7", kCatalogue);
  EXPECT_EQ(refusal([&] { check(job); }),
            "workloads[0].workers: 7 are more than there are devices: cluster 'cluster' has 6 of gpu1");
}

TEST(ParseSim, HostileTextStaysOnOneLine) {
  const auto result = parse(R"(kind: sim
cluster: "a\n\e/b.yaml"
workloads: [{model: "x\n", device: "y\e"}]
"k\n": 1
)");
  EXPECT_GE(result.issues.size(), 4u);
  for (const auto& issue : result.issues) {
    EXPECT_EQ(text(issue).find('\n'), std::string::npos) << text(issue);
    EXPECT_EQ(text(issue).find('\x1b'), std::string::npos) << text(issue);
  }
}

}  // namespace
}  // namespace tandem::spec::sim_testing
