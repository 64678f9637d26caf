"""Each rule of tools/check_layers, broken once in a house made for it: the checker must say so, and nothing else."""

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
tandem_room(base EXTERNAL fmt::fmt)
tandem_room(spec LINK base EXTERNAL yaml-cpp)
tandem_room(event LINK base spec)
tandem_room(tune LINK base spec event)  # a comment with tandem_room(base LINK cli)
tandem_room(local FOLDER runtime/local LINK base event control)
tandem_room(cli LINK local)
"""
GOOD = {
    "src/CMakeLists.txt": GOOD_LINKS,
    "src/base/a.cpp": '#include <fmt/format.h>\n#include <vector>\n// std::thread and time() in a comment\n'
                      'const char* text = "std::mutex";\nint many = 1\'000\'000;\n',
    "src/event/e.h": '#include "spec/s.h"\n#include "base/a.h"\n',
    "src/spec/s.cpp": "#include <yaml-cpp/yaml.h>\n#include <fstream>\n",
    "src/tune/t.cpp": '#include "event/e.h"\n#include <map>\nauto t = view.time(); auto c = x->clock(); int runtime(1);\n',
    "src/tune/t_test.cpp": '#include <gtest/gtest.h>\n#include <thread>\n#include "tune/t.h"\n#include "base/a.h"\n',
    "src/tune/testing.h": "#include <gtest/gtest.h>\n",  # what tests of a room share
    "src/cli/c.cpp": '#include "runtime/local/l.h"\n',
    "src/data/kernel_main.cpp": "#include <CLI/CLI.hpp>\n",
    "src/runtime/local/l.cpp": '#include "event/e.h"\n#include <sys/socket.h>\n#include "runtime/local/l.h"\n',
    "src/trainer/CMakeLists.txt": "add_library(tandem_torch INTERFACE)\n"
                                  "target_link_libraries(tandem-trainer PRIVATE tandem_base tandem_torch torch)",
}


class CheckLayers(unittest.TestCase):
    def broken(self, files=None):
        """What the checker says of the good house with these files put in or replaced."""
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

    def test_a_good_house_is_quiet(self):
        self.assertEqual(self.broken(), [])

    def test_a_lower_layer_may_not_use_a_higher_one(self):
        self.expect("src/base/x.h", '\n#include "spec/s.h"\n', "base/ may not use spec/")
        self.expect("src/platform/x.cpp", '#include "runtime/local/l.h"\n', "platform/ may not use runtime/")

    def test_the_line_is_named(self):
        self.assertTrue(self.broken(files={"src/base/x.h": '\n\n#include "cli/c.h"\n'})[0].startswith("src/base/x.h:3: "))

    def test_neighbours_keep_apart_unless_named(self):
        self.expect("src/spec/x.h", '#include "event/e.h"\n', "spec/ may not use event/")
        self.expect("src/protocol/x.h", '#include "spec/s.h"\n', "protocol/ may not use spec/")
        self.expect("src/stats/x.h", '#include "search/s.h"\n', "stats/ may not use search/")
        self.expect("src/control/x.h", '#include "platform/p.h"\n', "control/ may not use platform/")
        self.expect("src/store/x.h", '#include "measure/m.h"\n', "store/ may not use measure/")
        self.assertEqual(self.broken(files={"src/search/x.h": '#include "stats/s.h"\n'}), [])

    def test_tests_keep_to_the_layers_too(self):
        self.expect("src/base/x_test.cpp", '#include "cli/c.h"\n', "base/ may not use cli/")

    def test_third_parties_stay_in_their_rooms(self):
        for header, room in [("torch/torch.h", "cli"), ("sqlite3.h", "cli"), ("xgboost/c_api.h", "trainer"),
                             ("yaml-cpp/yaml.h", "cli"), ("CLI/CLI.hpp", "store"), ("hwloc.h", "measure"),
                             ("zlib.h", "store"), ("boost/asio.hpp", "cli")]:
            self.expect(f"src/{room}/x.cpp", f"#include <{header}>\n", "may not include it")
        self.expect("src/data/other_main.cpp", "#include <CLI/CLI.hpp>\n", "may not include it")
        self.expect("src/cli/x.cpp", "#include <unheard/of.h>\n", "is unknown")

    def test_test_tools_stay_in_tests(self):
        self.expect("src/cli/x.cpp", "#include <gtest/gtest.h>\n", "belongs into *_test.cpp")
        self.expect("src/cli/x_test.cpp", "#include <benchmark/benchmark.h>\n", "belongs into *_bench.cpp")

    def test_pure_rooms_refuse_headers_of_the_outside(self):
        for header in ["thread", "mutex", "fstream", "filesystem", "unistd.h", "sys/socket.h", "netinet/in.h", "random",
                       "ctime", "unordered_map", "unordered_set"]:
            for room in ["base", "event", "tune", "place", "stats"]:
                self.expect(f"src/{room}/x.cpp", f"#include <{header}>\n", f"<{header}> is not")

    def test_pure_rooms_refuse_code_that_asks_the_outside(self):
        for code in ["auto t = std::chrono::steady_clock::now();", "auto t = time(nullptr);", "auto t = std::time(0);",
                     'auto e = getenv("X");', 'auto e = std::getenv("X");', "std::random_device d;", "int r = rand();",
                     "int r = std::rand();", "std::thread t;", "std::unordered_map<int, int> m;", "std::ifstream f;",
                     "int s = ::socket(1, 2, 3);", "int n = 1'000; clock(); int m = 2'000;"]:
            self.expect("src/place/x.cpp", code + "\n", "is pure")
            self.assertEqual(self.broken(files={"src/platform/x.cpp": code + "\n"}), [])
            self.assertEqual(self.broken(files={"src/place/x_bench.cpp": code + "\n"}), [])

    def test_files_have_a_longest_length(self):
        self.expect("src/cli/x.cpp", "//\n" * 901, "900 is the stop")
        self.assertEqual(self.broken(files={"src/cli/x.cpp": "//\n" * 900}), [])

    def test_our_headers_are_written_from_src_on(self):
        self.expect("src/cli/x.cpp", '#include "x.h"\n', "written from src/ on")
        self.expect("src/cli/x.cpp", '#include "../base/a.h"\n', "written from src/ on")

    def test_a_new_folder_must_be_a_room(self):
        self.expect("src/attic/x.cpp", "", "no room of the house")

    def test_link_lines_keep_to_the_layers(self):
        links = "src/CMakeLists.txt"
        self.expect(links, GOOD_LINKS + "tandem_room(protocol LINK base spec)\n", "protocol/ may not use spec/")
        self.expect(links, GOOD_LINKS + "tandem_room(store LINK base local)\n", "store/ may not use runtime/")
        self.expect(links, GOOD_LINKS + "tandem_room(attic LINK base)\n", "no room of the house")
        self.expect(links, GOOD_LINKS + "tandem_room(measure EXTERNAL sqlite3)\n", "library sqlite3 stays in store")
        self.expect("src/cli/CMakeLists.txt", "target_link_libraries(tandem PRIVATE tandem_base torch)",
                    "library torch stays in trainer")
        self.expect("src/trainer/CMakeLists.txt", "target_link_libraries(x PRIVATE tandem_store)",
                    "trainer/ may not use store/")

    def test_what_is_included_is_linked(self):
        links = GOOD_LINKS.replace("tandem_room(tune LINK base spec event)", "tandem_room(tune LINK base)")
        self.expect("src/CMakeLists.txt", links, "tune does not LINK event, but t.cpp:1 includes it")

    def test_exit_status(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(check_layers.main([folder]), 2)
            (Path(folder) / "src").mkdir()
            self.assertEqual(check_layers.main([folder]), 0)


if __name__ == "__main__":
    unittest.main()
