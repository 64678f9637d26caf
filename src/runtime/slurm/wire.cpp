#include "runtime/slurm/wire.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "protocol/message.h"

namespace tandem::slurm {
namespace {

using Json = nlohmann::json;
using protocol::ProtocolError;

std::string ours(const Json& json) {
  return "!" + json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The one key of an object of ours, and what it holds.
std::pair<std::string, Json> read_ours(std::string_view line) {
  const Json json = Json::parse(line.substr(1), nullptr, false);
  if (!json.is_object() || json.size() != 1) throw ProtocolError("not a line between Tandem and its agent");
  return {json.begin().key(), json.begin().value()};
}

// A line of the protocol must stay one line.
std::string relayed(const std::string& line) {
  return ">" + line.substr(0, line.find('\n')) + "\n";
}

}  // namespace

std::string text(const Ticket& t) {
  return Json{{"mark", t.mark},
              {"token", t.token},
              {"addresses", t.addresses},
              {"port", t.port},
              {"command", t.command},
              {"environment", t.environment},
              {"output", t.output.string()},
              {"output_limit", t.output_limit},
              {"plain", t.plain},
              {"record", t.record.string()},
              {"claim", t.claim.string()},
              {"data_limit", t.data_limit},
              {"folder", t.folder},
              {"cores", t.cores},
              {"nodes", t.nodes},
              {"tokens", t.tokens},
              {"master", t.master},
              {"whole_node", t.whole_node},
              {"grace", t.grace.value}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

Ticket parse_ticket(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    Ticket t;
    json.at("mark").get_to(t.mark);
    json.at("token").get_to(t.token);
    json.at("addresses").get_to(t.addresses);
    json.at("port").get_to(t.port);
    json.at("command").get_to(t.command);
    json.at("environment").get_to(t.environment);
    t.output = json.at("output").get<std::string>();
    json.at("output_limit").get_to(t.output_limit);
    json.at("plain").get_to(t.plain);
    t.record = json.at("record").get<std::string>();
    t.claim = json.at("claim").get<std::string>();
    json.at("data_limit").get_to(t.data_limit);
    json.at("folder").get_to(t.folder);
    json.at("cores").get_to(t.cores);
    json.at("grace").get_to(t.grace.value);
    json.at("nodes").get_to(t.nodes);
    json.at("tokens").get_to(t.tokens);
    json.at("master").get_to(t.master);
    json.at("whole_node").get_to(t.whole_node);
    if (t.nodes.size() != t.tokens.size()) throw SystemError("a ticket with more ranks than tokens");
    if (t.command.empty()) throw SystemError("a ticket without a command");
    return t;
  } catch (const Json::exception& e) {
    throw SystemError(std::string("that is no ticket of Tandem's: ") + e.what());
  }
}

std::size_t rank_on(const Ticket& ticket, const std::string& node) {
  const auto found = std::find(ticket.nodes.begin(), ticket.nodes.end(), node);
  if (found == ticket.nodes.end()) throw SystemError("the gang has no process on node '" + node + "'");
  return static_cast<std::size_t>(found - ticket.nodes.begin());
}

Ticket of_rank(Ticket ticket, std::size_t rank) {
  if (rank == 0) return ticket;
  const std::string own = "-rank-" + std::to_string(rank);
  ticket.mark = mark_of_rank(ticket.mark, rank);
  ticket.token = ticket.tokens.at(rank);
  ticket.record += own;
  ticket.claim += own;
  return ticket;
}

std::string mark_of_rank(const std::string& mark, std::size_t rank) {
  return rank == 0 ? mark : mark + "#" + std::to_string(rank);
}

std::pair<std::string, std::size_t> split_rank(const std::string& mark) {
  const auto at = mark.find('#');
  if (at == std::string::npos) return {mark, 0};
  return {mark.substr(0, at), static_cast<std::size_t>(std::atoll(mark.c_str() + at + 1))};
}

std::string line(const FromAgent& message) {
  struct Write {
    std::string operator()(const Join& j) const {
      return ours({{"join",
                    {{"mark", j.mark},
                     {"token", j.token},
                     {"node", j.node},
                     {"job", j.job},
                     {"pid", j.pid},
                     {"pid_started", j.pid_started},
                     {"cpus", j.cpus},
                     {"port", j.port}}}});
    }
    std::string operator()(const Said& s) const { return relayed(s.line); }
    std::string operator()(const Broke& b) const { return ours({{"broke", b.why}}); }
    std::string operator()(const Exited& e) const { return ours({{"exited", to_json(e.record)}}); }
    std::string operator()(const Drew& d) const { return ours({{"drew", d.joules}}); }
    std::string operator()(const StepEnded& s) const {
      return ours({{"step_ended", {{"mark", s.mark}, {"status", s.status}}}});
    }
  };
  return std::visit(Write{}, message);
}

std::string line(const ToAgent& message) {
  if (const auto* tell = std::get_if<Tell>(&message)) return relayed(tell->line);
  if (const auto* signal = std::get_if<Signal>(&message)) return ours({{"signal", signal->number}});
  if (const auto* step = std::get_if<RunStep>(&message))
    return ours({{"run", {{"mark", step->mark}, {"command", step->command}}}});
  if (const auto* step = std::get_if<EndStep>(&message)) return ours({{"end", step->mark}});
  return ours({{"go", std::get<Go>(message).port}});
}

FromAgent parse_from_agent(std::string_view line) try {
  if (line.starts_with('>')) return Said{std::string(line.substr(1))};
  if (!line.starts_with('!')) throw ProtocolError("not a line of an agent");
  const auto [key, value] = read_ours(line);
  if (key == "join")
    return Join{value.at("mark"), value.at("token"),       value.at("node"), value.at("job"),
                value.at("pid"),  value.at("pid_started"), value.at("cpus"), value.at("port")};
  if (key == "broke") return Broke{value.get<std::string>()};
  if (key == "exited")
    if (auto record = record_from_json(value)) return Exited{*record};
  if (key == "drew") return Drew{value.get<double>()};
  if (key == "step_ended") return StepEnded{value.at("mark"), value.at("status")};
  throw ProtocolError("an agent said '" + key + "', which nobody understands");
} catch (const Json::exception& e) {
  throw ProtocolError(std::string("not a line of an agent: ") + e.what());
}

ToAgent parse_to_agent(std::string_view line) try {
  if (line.starts_with('>')) return Tell{std::string(line.substr(1))};
  if (!line.starts_with('!')) throw ProtocolError("not a line for an agent");
  const auto [key, value] = read_ours(line);
  if (key == "go") return Go{value.is_number() ? value.get<int>() : 0};
  if (key == "signal") return Signal{value.get<int>()};
  if (key == "end") return EndStep{value.get<std::string>()};
  if (key == "run") {
    RunStep step{value.at("mark"), value.at("command")};
    if (step.command.empty()) throw ProtocolError("a step without a command");
    return step;
  }
  throw ProtocolError("an agent was told '" + key + "', which nobody understands");
} catch (const Json::exception& e) {
  throw ProtocolError(std::string("not a line for an agent: ") + e.what());
}

}  // namespace tandem::slurm
