#include "diagnose/module_path.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace parity {
namespace {

// Whether `path` is `end`, or ends in it after a dot.
bool EndsInPath(std::string_view path, std::string_view end) {
  if (!path.ends_with(end)) return false;
  return path.size() == end.size() || path[path.size() - end.size() - 1] == '.';
}

// "layer1" and "layer1.0" make "layer1.0", "features.1.conv" and "conv.0" make
// "features.1.conv.0"; others are joined by a dot.
void Extend(std::string& path, std::string_view component) {
  for (std::size_t dot = component.rfind('.');
       dot != std::string_view::npos && dot > 0;
       dot = component.rfind('.', dot - 1)) {
    if (EndsInPath(path, component.substr(0, dot))) {
      path += component.substr(dot);
      return;
    }
  }
  if (!path.empty()) path += '.';
  path += component;
}

}  // namespace

std::string ModulePathOf(std::string_view node_name) {
  std::string path;
  if (!node_name.starts_with('/')) return path;
  node_name.remove_prefix(1);
  for (std::size_t slash = node_name.find('/'); slash != std::string_view::npos;
       slash = node_name.find('/')) {
    const std::string_view component = node_name.substr(0, slash);
    if (!component.empty()) Extend(path, component);
    node_name.remove_prefix(slash + 1);
  }
  return path;
}

}  // namespace parity
