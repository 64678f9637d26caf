// A value that is seldom there: an optional that keeps it on the heap, so that its absence takes the space
// of a pointer. Copies are copies of the value.
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace tandem {

template <class T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(std::nullopt_t) {}                                           // NOLINT: as an optional
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT
  Boxed(const std::optional<T>& value) : value_(value ? std::make_unique<T>(*value) : nullptr) {}  // NOLINT
  Boxed(const Boxed& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) {
    Boxed copy(other);
    value_.swap(copy.value_);
    return *this;
  }
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  explicit operator bool() const { return value_ != nullptr; }
  operator std::optional<T>() const {  // NOLINT
    return value_ ? std::optional<T>(*value_) : std::nullopt;
  }
  bool has_value() const { return value_ != nullptr; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  const T& value() const {
    if (!value_) throw std::bad_optional_access();
    return *value_;
  }
  void reset() { value_.reset(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace tandem
