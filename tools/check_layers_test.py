"""Each rule of tools/check_layers, broken once in a tree made for it: the checker must say so, and nothing else."""

import importlib.machinery
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
_loader = importlib.machinery.SourceFileLoader("check_layers", str(Path(__file__).resolve().parent / "check_layers"))
_spec = importlib.util.spec_from_loader("check_layers", _loader)
check_layers = importlib.util.module_from_spec(_spec)
_loader.exec_module(check_layers)

GOOD_LINKS = """
tandem_module(base EXTERNAL fmt::fmt)
tandem_module(spec LINK base EXTERNAL yaml-cpp)
tandem_module(event LINK base spec)
tandem_module(tune LINK base spec event)  # a comment with tandem_module(base LINK cli)
tandem_module(local FOLDER runtime/local LINK base event control)
tandem_room(cli LINK local)  # as it was called before
"""
GOOD = {
    "src/CMakeLists.txt": GOOD_LINKS,
    "src/base/a.cpp": '#include <fmt/format.h>\n#include <vector>\n// std::thread and time() in a comment\n'
                      'const char* const kText = "std::mutex";\nconst int kMany = 1\'000\'000;\n',
    "src/event/e.h": '#include "spec/s.h"\n#include "base/a.h"\n',
    "src/spec/s.cpp": "#include <yaml-cpp/yaml.h>\n#include <fstream>\n",
    "src/tune/t.cpp": '#include "event/e.h"\n#include <map>\nvoid f() { auto t = view.time(); x->clock(); int runtime(1); }\n',
    "src/tune/statics.cpp": "static int one(int);\nstatic const std::map<int, int> kTwo{{1, 2}};\nstatic_assert(true);\n"
                            "static constexpr int kThree = 3;\nstatic const char* const kFour[]{};\n"
                            "static std::function<int()> five(std::vector<int>,\n    int);\nconst int kSix = 6;\n"
                            "struct Seven {\n  int value = 7;\n  static Seven make();\n};\nusing Eight = int;\n"
                            "Seven Seven::make() {\n  int nine = 9;\n  return {};\n}\nstd::string ten() { return {}; }\n",
    "src/tune/t_test.cpp": '#include <gtest/gtest.h>\n#include <thread>\n#include "tune/t.h"\n#include "base/a.h"\n',
    "src/tune/testing.h": "#include <gtest/gtest.h>\n",  # what tests of a module share
    "src/cli/c.cpp": '#include "runtime/local/l.h"\n',
    "src/data/kernel_main.cpp": "#include <CLI/CLI.hpp>\n",
    "src/runtime/local/l.cpp": '#include "event/e.h"\n#include <sys/socket.h>\n#include "runtime/local/l.h"\n',
    "src/runtime/slurm/s.cpp": '#include "runtime/common/c.h"\n#include "control/c.h"\n',
    "tests/some/a_test.cpp": '#include <gtest/gtest.h>\n#include "tests/some/toy.h"\n#include "cli/c.h"\n',
    "tests/CMakeLists.txt": "target_link_libraries(a_test PRIVATE tandem_cli tandem_local GTest::gtest_main)\n",
    "bench/trainer/b.cpp": '#include <torch/torch.h>\n#include <thread>\n#include "bench/sim/report.h"\n',
    "bench/trainer/CMakeLists.txt": "target_link_libraries(b PRIVATE tandem_data tandem_torch)\n",
    "src/trainer/CMakeLists.txt": "add_library(tandem_torch INTERFACE)\n"
                                  "target_link_libraries(tandem-trainer PRIVATE tandem_base tandem_torch ${TANDEM_TORCH})",
}


class CheckLayers(unittest.TestCase):
    def broken(self, files=None):
        """What the checker says of the good tree with these files put in or replaced."""
        with tempfile.TemporaryDirectory() as folder:
            for name, content in {**GOOD, **(files or {})}.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
            return check_layers.Checker(folder).run()

    def expect(self, name, content, said):
        broken = self.broken(files={name: content})
        self.assertEqual(len(broken), 1, broken)
        self.assertTrue(broken[0].startswith(name + ":"), broken)
        self.assertIn(said, broken[0])

    def test_a_good_tree_is_quiet(self):
        self.assertEqual(self.broken(), [])

    def test_a_lower_layer_may_not_use_a_higher_one(self):
        self.expect("src/base/x.h", '\n#include "spec/s.h"\n', "base/ may not use spec/")
        self.expect("src/platform/x.cpp", '#include "runtime/local/l.h"\n', "platform/ may not use runtime/local/")

    def test_the_line_is_named(self):
        self.assertTrue(self.broken(files={"src/base/x.h": '\n\n#include "cli/c.h"\n'})[0].startswith("src/base/x.h:3: "))

    def test_neighbours_keep_apart_unless_named(self):
        self.expect("src/spec/x.h", '#include "event/e.h"\n', "spec/ may not use event/")
        self.expect("src/protocol/x.h", '#include "spec/s.h"\n', "protocol/ may not use spec/")
        self.expect("src/stats/x.h", '#include "search/s.h"\n', "stats/ may not use search/")
        self.expect("src/control/x.h", '#include "platform/p.h"\n', "control/ may not use platform/")
        self.expect("src/store/x.h", '#include "measure/m.h"\n', "store/ may not use measure/")
        self.assertEqual(self.broken(files={"src/advise/x.h": '#include "stats/s.h"\n'}), [])

    def test_tests_keep_to_the_layers_too(self):
        self.expect("src/base/x_test.cpp", '#include "cli/c.h"\n', "base/ may not use cli/")

    def test_third_parties_stay_in_their_modules(self):
        for header, module in [("torch/torch.h", "cli"), ("sqlite3.h", "cli"), ("xgboost/c_api.h", "trainer"),
                             ("yaml-cpp/yaml.h", "cli"), ("CLI/CLI.hpp", "store"), ("hwloc.h", "measure"),
                             ("zlib.h", "store"), ("boost/asio.hpp", "cli"),
                               ("simgrid/s4u.hpp", "sim")]:
            self.expect(f"src/{module}/x.cpp", f"#include <{header}>\n", "may not include it")
        self.expect("src/data/other_main.cpp", "#include <CLI/CLI.hpp>\n", "may not include it")
        self.expect("src/cli/x.cpp", "#include <unheard/of.h>\n", "is unknown")

    def test_test_tools_stay_in_tests(self):
        self.expect("src/cli/x.cpp", "#include <gtest/gtest.h>\n", "belongs into *_test.cpp")
        self.expect("bench/some/x.cpp", "#include <gtest/gtest.h>\n", "belongs into *_test.cpp")

    def test_pure_modules_refuse_headers_of_the_outside(self):
        for header in ["thread", "mutex", "fstream", "filesystem", "unistd.h", "sys/socket.h", "netinet/in.h", "random",
                       "ctime", "unordered_map", "unordered_set", "iostream", "atomic"]:
            for module in ["base", "event", "tune", "place", "stats"]:
                self.expect(f"src/{module}/x.cpp", f"#include <{header}>\n", f"<{header}> is not")

    def test_pure_modules_refuse_code_that_asks_the_outside(self):
        for code in ["auto t = std::chrono::steady_clock::now();", "auto t = time(nullptr);", "auto t = std::time(0);",
                     'auto e = getenv("X");', 'auto e = std::getenv("X");', "std::random_device d;", "int r = rand();",
                     "int r = std::rand();", "std::thread t;", "std::unordered_map<int, int> m;", "std::ifstream f;",
                     "int s = ::socket(1, 2, 3);", 'printf("x");', 'std::fprintf(f, "x");', 'auto f = fopen("x", "r");',
                     'puts("x");', "std::cout << 1;", 'fmt::print("x");', "thread_local int x = 0;",
                     "static thread_local int x;", "static int calls = 0;", "static std::vector<int> kept;",
                     "static std::function<int()> hook;", "static const char* current = nullptr;", "static int once(0);",
                     "inline int g_all = 0;", "std::map<int, int> g_cache;", "double g_last{0};", "void f() { int n = 1'000; clock(); int m = 2'000; }"]:
            indented = code if code.startswith(("inline", "std::map", "double")) else "  " + code  # of a namespace, or a body
            self.expect("src/place/x.cpp", indented + "\n", "is pure")
            self.assertEqual(self.broken(files={"src/platform/x.cpp": code + "\n"}), [])
            self.assertEqual(self.broken(files={"src/place/x_bench.cpp": code + "\n"}), [])

    def test_files_have_a_longest_length(self):
        self.expect("src/cli/x.cpp", "//\n" * 901, "900 is the stop")
        self.assertEqual(self.broken(files={"src/cli/x.cpp": "//\n" * 900}), [])

    def test_our_headers_are_written_from_src_on(self):
        self.expect("src/cli/x.cpp", '#include "x.h"\n', "written from src/ on")
        self.expect("src/cli/x.cpp", '#include "../base/a.h"\n', "written from src/ on")
        self.expect("src/cli/x.cpp", '#include "runtime/a.h"\n', "written from src/ on")
        self.expect("src/cli/x.cpp", '#include "tests/some/toy.h"\n', "src/ stands alone")

    def test_tests_and_benches_have_rules_too(self):
        self.expect("tests/some/x.cpp", '#include "toy.h"\n', "or from the root, as \"tests/folder/file.h\"")
        self.expect("bench/some/x.cpp", '#include "../other/toy.h"\n', "from the root")
        self.expect("bench/some/x.cpp", '#include "tests/some/toy.h"\n', "bench/ may not use tests/")
        self.expect("tests/some/x.cpp", '#include "bench/some/toy.h"\n', "tests/ may not use bench/")
        self.expect("bench/other/x.cpp", "#include <torch/torch.h>\n", "stays in trainer, bench/trainer")
        self.expect("tests/some/x.cpp", "#include <unheard/of.h>\n", "is unknown")
        self.expect("bench/some/x.cpp", "//\n" * 901, "900 is the stop")
        self.expect("tests/CMakeLists.txt", "target_link_libraries(x PRIVATE tandem_attic)", "attic, which is no module")
        self.expect("bench/CMakeLists.txt", "target_link_libraries(x PRIVATE sqlite3)", "library sqlite3 stays in store")

    def test_the_folders_of_runtime_are_modules(self):
        self.expect("src/runtime/local/x.cpp", '#include "runtime/slurm/s.h"\n', "runtime/local/ may not use runtime/slurm/")
        self.expect("src/runtime/bags/x.cpp", '#include "runtime/local/l.h"\n', "runtime/bags/ may not use runtime/local/")
        self.expect("src/runtime/common/x.cpp", '#include "runtime/local/l.h"\n', "may not use runtime/local/")
        self.expect("src/runtime/common/x.cpp", '#include "server/s.h"\n', "runtime/common/ may not use server/")
        self.expect("src/sim/x.cpp", '#include "runtime/local/l.h"\n', "sim/ may not use runtime/local/")
        self.expect("src/runtime/attic/x.cpp", "", "src/runtime/attic is no module")
        self.expect("src/runtime/x.cpp", "", "is no module")

    def test_a_new_folder_must_be_a_module(self):
        self.expect("src/attic/x.cpp", "", "no module")

    def test_link_lines_keep_to_the_layers(self):
        links = "src/CMakeLists.txt"
        self.expect(links, GOOD_LINKS + "tandem_module(protocol LINK base spec)\n", "protocol/ may not use spec/")
        self.expect(links, GOOD_LINKS + "tandem_module(store LINK base local)\n", "store/ may not use runtime/local/")
        self.expect(links, GOOD_LINKS + "tandem_module(attic LINK base)\n", "no module")
        self.expect(links, GOOD_LINKS + "tandem_module(measure EXTERNAL sqlite3)\n", "library sqlite3 stays in store")
        self.expect("src/cli/CMakeLists.txt", "target_link_libraries(tandem PRIVATE tandem_base tandem_torch)",
                    "library tandem_torch stays in trainer")
        self.expect("src/cli/CMakeLists.txt", "target_link_libraries(tandem PRIVATE unheard)", "library unheard is unknown")
        self.expect("src/trainer/CMakeLists.txt", "target_link_libraries(x PRIVATE tandem_store)",
                    "trainer/ may not use store/")

    def test_what_is_included_is_linked(self):
        links = GOOD_LINKS.replace("tandem_module(tune LINK base spec event)", "tandem_module(tune LINK base)")
        self.expect("src/CMakeLists.txt", links, "tune does not LINK event, but t.cpp:1 includes it")

    def test_no_row_of_the_tables_is_dead(self):
        checker = check_layers.Checker(Path(__file__).resolve().parent.parent)
        checker.run()
        self.assertEqual(checker.dead_rows(), [], "rows of tools/check_layers that nothing in this tree uses")

    def test_dead_rows_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in GOOD.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
            checker = check_layers.Checker(folder)
            checker.run()
            dead = checker.dead_rows()
        for row in ["module app", "beside place stats", "header sqlite3 store", "header CLI/ cli", "library hwloc platform",
                    "system arpa"]:
            self.assertIn(row, dead)
        for row in ["module base", "beside event spec", "header fmt/", "header CLI/ data/kernel_main.cpp",
                    "header torch/ bench/trainer", "library yaml-cpp spec", "tool gtest/", "system sys"]:
            self.assertNotIn(row, dead)

    def test_exit_status(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(check_layers.main([folder]), 2)
            (Path(folder) / "src").mkdir()
            self.assertEqual(check_layers.main([folder]), 0)


if __name__ == "__main__":
    unittest.main()
