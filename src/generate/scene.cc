// All lengths are in units of the picture's height, so that a scene looks the
// same at any resolution; (0, 0) is the upper left corner.
#include "generate/scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "base/splitmix.h"
#include "generate/picture.h"
#include "generate/value_noise.h"

namespace parity {
namespace {

using Colour = std::array<double, 3>;

constexpr double kNoise = 0.01;

double Mix(double a, double b, double t) { return a + (b - a) * t; }

Colour Mix(const Colour& a, const Colour& b, double t) {
  return {Mix(a[0], b[0], t), Mix(a[1], b[1], t), Mix(a[2], b[2], t)};
}

Colour Scaled(const Colour& colour, double factor) {
  return {colour[0] * factor, colour[1] * factor, colour[2] * factor};
}

// Draws numbers one after the other.
class Dice {
 public:
  explicit Dice(const SplitMixStream& stream) : stream_(stream) {}
  double Between(double low, double high) {
    return Mix(low, high, stream_.Uniform(next_++));
  }
  Colour ColourBetween(double low, double high) {
    const double red = Between(low, high);
    const double green = Between(low, high);
    return {red, green, Between(low, high)};
  }

 private:
  SplitMixStream stream_;
  std::uint64_t next_ = 0;
};

// 1 well inside, 0 well outside, ½ on the outline; `distance` is positive
// inside, and the ramp is 2·`softness` wide.
double Coverage(double distance, double softness) {
  const double t = std::clamp(0.5 + distance / (2 * softness), 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

struct Ellipse {
  double x;
  double y;
  double radius_x;
  double radius_y;

  // About the distance from (px, py) to the outline, positive inside.
  [[nodiscard]] double Inside(double px, double py) const {
    const double dx = (px - x) / radius_x;
    const double dy = (py - y) / radius_y;
    return (1 - std::sqrt(dx * dx + dy * dy)) * std::min(radius_x, radius_y);
  }
};

// Indices [begin, end).
struct Range {
  std::size_t begin;
  std::size_t end;
};

// The indices i < count that hold all x0 + i·step in [left, right].
Range Columns(double left, double right, double x0, double step,
              std::size_t count) {
  const auto last = static_cast<double>(count);
  const double begin = std::clamp((left - x0) / step, 0.0, last);
  const double end = std::clamp((right - x0) / step + 1, 0.0, last);
  return {.begin = static_cast<std::size_t>(begin),
          .end = static_cast<std::size_t>(end)};
}

// A picture frame, door or shelf.
struct Panel {
  double left;
  double top;
  double right;
  double bottom;
  Colour colour;

  [[nodiscard]] double Inside(double x, double y) const {
    return std::min({x - left, right - x, y - top, bottom - y});
  }
};

// A wall whose colours and light vary, with panels on it.
class Room {
 public:
  Room(const SplitMixStream& stream, double width)
      : tint_(stream, 1, 2.5, 3), grain_(stream, 2, 9, 4) {
    Dice dice(stream);
    wall_ = dice.ColourBetween(0.45, 0.8);
    shade_ = dice.ColourBetween(0.2, 0.55);
    floor_ = dice.Between(0.72, 0.9);
    for (Panel& panel : panels_) {
      panel.left = dice.Between(-0.1, 0.95) * width;
      panel.top = dice.Between(0.02, 0.6);
      panel.right = panel.left + dice.Between(0.12, 0.45);
      panel.bottom = panel.top + dice.Between(0.1, 0.4);
      panel.colour = dice.ColourBetween(0.1, 0.9);
    }
  }

  void Row(double x0, double step, double y, std::span<Colour> out) const {
    std::vector<double> tint(out.size());
    std::vector<double> grain(out.size());
    tint_.Row(x0, step, y, tint);
    grain_.Row(x0, step, y, grain);
    const double below = Coverage(y - floor_, step);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = Mix(wall_, shade_, 0.5 + 0.5 * tint[i]);
    for (const Panel& panel : panels_) DrawPanel(panel, x0, step, y, out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = Scaled(Mix(out[i], Scaled(shade_, 0.7), below),
                      1 + 0.35 * grain[i] - 0.15 * y);
    }
  }

 private:
  static void DrawPanel(const Panel& panel, double x0, double step, double y,
                        std::span<Colour> out) {
    constexpr double kFrame = 0.015;
    if (y < panel.top - step || y > panel.bottom + step) return;
    const Colour frame = Scaled(panel.colour, 0.4);
    const Range columns =
        Columns(panel.left - step, panel.right + step, x0, step, out.size());
    for (std::size_t i = columns.begin; i < columns.end; ++i) {
      const double inside = panel.Inside(x0 + step * static_cast<double>(i), y);
      out[i] = Mix(out[i], frame, Coverage(inside, step));
      out[i] = Mix(out[i], panel.colour, Coverage(inside - kFrame, step));
    }
  }

  ValueNoise tint_;
  ValueNoise grain_;
  Colour wall_;
  Colour shade_;
  double floor_;
  std::array<Panel, 5> panels_;
};

struct Pixel {
  Colour colour;
  double alpha;  // how much of the person covers the room
};

// Head, hair, neck and shoulders.
class Person {
 public:
  Person(const SplitMixStream& stream, double width, double step)
      : strands_(stream, 3, 25, 3),
        cloth_(stream, 4, 14, 3),
        // Never sharper than a pixel and a half.
        softness_(std::max(0.008, 1.5 * step)) {
    Dice dice(stream);
    const double size = std::min(1.0, width / 0.85);
    const double x = width * dice.Between(0.4, 0.6);
    const double radius = size * dice.Between(0.1, 0.125);
    face_ = {.x = x,
             .y = 1 - size * dice.Between(0.58, 0.64),
             .radius_x = radius,
             .radius_y = 1.3 * radius};
    hair_ = {.x = x,
             .y = face_.y - 0.25 * radius,
             .radius_x = radius * dice.Between(1.15, 1.4),
             .radius_y = radius * dice.Between(1.35, 1.5)};
    neck_ = {.x = x,
             .y = face_.y + 1.5 * radius,
             .radius_x = 0.6 * radius,
             .radius_y = 1.5 * radius};
    body_ = {.x = x + size * dice.Between(-0.03, 0.03),
             .y = 1 + 0.12 * size,
             .radius_x = size * dice.Between(0.32, 0.4),
             .radius_y = size * dice.Between(0.42, 0.47)};
    skin_ = Mix(Colour{0.93, 0.76, 0.65}, Colour{0.42, 0.28, 0.2},
                dice.Between(0, 1));
    hair_colour_ = Scaled({0.55, 0.4, 0.25}, dice.Between(0.2, 1.1));
    shirt_ = dice.ColourBetween(0.1, 0.85);
  }

  // Paints the person over a row of the room.
  void Row(double x0, double step, double y, std::span<Colour> out) const {
    if (y < Top()) return;
    const double reach = std::max(body_.radius_x, hair_.radius_x) + 0.1;
    const Range columns =
        Columns(body_.x - reach, body_.x + reach, x0, step, out.size());
    const auto painted =
        out.subspan(columns.begin, columns.end - columns.begin);
    x0 += step * static_cast<double>(columns.begin);
    std::vector<double> strands(painted.size());
    std::vector<double> cloth(painted.size());
    strands_.Row(x0, step, y, strands);
    cloth_.Row(x0, step, y, cloth);
    for (std::size_t i = 0; i < painted.size(); ++i) {
      const Pixel pixel =
          At(x0 + step * static_cast<double>(i), y, strands[i], cloth[i]);
      painted[i] = Mix(painted[i], pixel.colour, pixel.alpha);
    }
  }

 private:
  // Above the last strand of hair.
  [[nodiscard]] double Top() const {
    return hair_.y - hair_.radius_y - 2.5 * softness_ - 0.05;
  }

  [[nodiscard]] Pixel At(double x, double y, double strand,
                         double cloth) const {
    // Single strands leave the hair's outline: a wide, uneven ramp.
    const double hair =
        Coverage(hair_.Inside(x, y) + 0.025 * strand, 2.5 * softness_);
    const double body = Coverage(body_.Inside(x, y), softness_);
    const double neck = Coverage(neck_.Inside(x, y), softness_);
    const double face = Coverage(face_.Inside(x, y), softness_);
    Colour colour = Scaled(hair_colour_, 1 + 0.5 * strand);
    colour = Mix(colour, Scaled(shirt_, 1 + 0.3 * cloth), body);
    colour = Mix(colour, Scaled(skin_, 0.8), neck);
    // Light from the upper left.
    const double light = 1 - 0.8 * (x - face_.x) - 0.4 * (y - face_.y);
    colour = Mix(colour, Scaled(skin_, light), face);
    return {.colour = colour, .alpha = std::max({hair, body, neck, face})};
  }

  ValueNoise strands_;
  ValueNoise cloth_;
  double softness_;
  Ellipse face_;
  Ellipse hair_;
  Ellipse neck_;
  Ellipse body_;
  Colour skin_;
  Colour hair_colour_;
  Colour shirt_;
};

// One image of the batch.
class Scene {
 public:
  Scene(const SceneView& view, std::uint64_t seed, std::size_t image,
        double width, double step)
      : room_(StreamOf(view, ".room.", seed, image), width),
        person_(StreamOf(view, ".person.", seed, image), width, step),
        with_person_(view.with_person),
        step_(step) {}

  void Row(double y, std::span<Colour> out) const {
    room_.Row(step_ / 2, step_, y, out);
    if (with_person_) person_.Row(step_ / 2, step_, y, out);
  }

 private:
  static SplitMixStream StreamOf(const SceneView& view, std::string_view part,
                                 std::uint64_t seed, std::size_t image) {
    return {view.room + std::string(part) + std::to_string(image), seed};
  }

  Room room_;
  Person person_;
  bool with_person_;
  double step_;
};

}  // namespace

void DrawScene(const SceneView& view, std::string_view noise,
               std::uint64_t seed, int threads, const PictureWriter& writer) {
  const SplitMixStream grain(noise, seed);
  const std::size_t height = writer.height();
  // A strip is the lower part of a picture four times as wide as high.
  const double step = 1 / std::max(static_cast<double>(height),
                                   static_cast<double>(writer.width()) / 4);
  const double width = static_cast<double>(writer.width()) * step;
  const double top = 1 - static_cast<double>(height) * step;
  std::vector<Scene> scenes;
  scenes.reserve(writer.images());
  for (std::size_t image = 0; image < writer.images(); ++image)
    scenes.emplace_back(view, seed, image, width, step);

  const auto draw_row = [&](std::size_t image, std::size_t y) {
    std::vector<Colour> pixels(writer.width());
    std::vector<double> row(writer.width());
    scenes[image].Row(top + (static_cast<double>(y) + 0.5) * step, pixels);
    for (std::size_t channel = 0; channel < writer.channels(); ++channel) {
      const std::size_t start = writer.RowStart(image, channel, y);
      for (std::size_t x = 0; x < row.size(); ++x)
        row[x] = pixels[x][channel % 3] +
                 kNoise * (2 * grain.Uniform(start + x) - 1);
      writer.WriteRow(image, channel, y, row);
    }
  };
  ParallelFor(static_cast<std::int64_t>(writer.images() * height), threads,
              [&](std::int64_t index) {
                const auto i = static_cast<std::size_t>(index);
                draw_row(i / height, i % height);
              });
}

}  // namespace parity
