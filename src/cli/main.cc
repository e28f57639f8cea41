#include "cli/tool.h"

int main(int argc, char** argv) {
  return static_cast<int>(parity::RunTool(argc, argv));
}
