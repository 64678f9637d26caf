// Values by their id: dense from 0, made one after the other, and forgotten when nobody needs them any more.
//
// To readers it is a vector: size() is how many ids were ever given, an id stays valid, and iteration goes
// over those that are there, in the order of their ids. What share() gives is as good as a copy and cheap,
// however many values there are: both have the same pages of values, and whichever changes a value then
// changes a copy of its own (of that value alone). So another thread may read it while the owner of the
// original goes on.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace tandem {

template <class T>
class IdTable {
  static constexpr std::size_t kPage = 128;
  // Made in this generation of the table, and so in no other table: it may be changed in place.
  struct Slot {
    std::uint64_t generation = 0;
    T value{};
  };
  struct Page {
    std::uint64_t generation = 0;
    std::size_t present = 0;
    std::array<std::shared_ptr<Slot>, kPage> slots{};
  };

  template <class Table, class Value>
  class Iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = Value*;
    using reference = Value&;

    Iterator() = default;
    Iterator(Table* table, std::size_t at) : table_(table), at_(table->present_from(at)) {}
    reference operator*() const { return (*table_)[at_]; }
    pointer operator->() const { return &(*table_)[at_]; }
    Iterator& operator++() {
      at_ = table_->present_from(at_ + 1);
      return *this;
    }
    Iterator operator++(int) { return std::exchange(*this, ++Iterator(*this)); }
    Iterator& operator--() {
      at_ = table_->present_before(at_);
      return *this;
    }
    Iterator operator--(int) { return std::exchange(*this, --Iterator(*this)); }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    Table* table_ = nullptr;
    std::size_t at_ = 0;
  };

 public:
  using value_type = T;
  using iterator = Iterator<IdTable, T>;
  using const_iterator = Iterator<const IdTable, const T>;

  IdTable() = default;
  IdTable(std::initializer_list<T> values) {
    for (const auto& value : values) push_back(value);
  }
  IdTable(std::vector<T> values) {  // NOLINT: as good as a table
    for (auto& value : values) push_back(std::move(value));
  }
  IdTable(const IdTable& other) {
    for (std::size_t id = 0; id < other.size_; ++id)
      if (other.find(id)) {
        skip_to(id);
        push_back(other[id]);
      }
    skip_to(other.size_);
  }
  IdTable(IdTable&& other) noexcept { swap(other); }
  IdTable& operator=(const IdTable& other) {
    IdTable copy(other);
    swap(copy);
    return *this;
  }
  IdTable& operator=(IdTable&& other) noexcept {
    IdTable old;
    swap(old);
    swap(other);
    return *this;
  }
  ~IdTable() = default;
  // What both have by now is neither's own any more.
  IdTable share() {
    IdTable out;
    out.pages_ = pages_;
    out.size_ = size_;
    out.present_ = present_;
    out.generation_ = ++generation_;
    return out;
  }

  std::size_t size() const { return size_; }        // ids ever given; the next one
  std::size_t present() const { return present_; }  // those that are there
  bool empty() const { return size_ == 0; }
  bool contains(std::int64_t id) const {
    return id >= 0 && static_cast<std::size_t>(id) < size_ && find(static_cast<std::size_t>(id));
  }

  const T& operator[](std::size_t id) const {
    assert(contains(static_cast<std::int64_t>(id)));
    return pages_[id / kPage]->slots[id % kPage]->value;
  }
  T& operator[](std::size_t id) { return own(id).value; }
  const T& at(std::size_t id) const {
    check(id);
    return (*this)[id];
  }
  T& at(std::size_t id) {
    check(id);
    return (*this)[id];
  }
  const T& front() const { return *begin(); }
  T& front() { return *begin(); }
  const T& back() const { return *std::prev(end()); }
  T& back() { return *std::prev(end()); }

  void push_back(T value) { emplace_back(std::move(value)); }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ % kPage == 0) pages_.emplace_back();
    auto& page = own_page(size_ / kPage);
    auto& slot = page.slots[size_ % kPage];
    slot = std::make_shared<Slot>(Slot{generation_, T{std::forward<Args>(args)...}});
    ++page.present, ++present_, ++size_;
    return slot->value;
  }
  void resize(std::size_t size) {  // to more
    while (size_ < size) emplace_back();
  }
  // Forgets it: its memory is given back once no copy has it.
  void erase(std::size_t id) {
    if (!find(id)) return;
    auto& page = own_page(id / kPage);
    page.slots[id % kPage].reset();
    --present_;
    if (--page.present == 0) pages_[id / kPage].reset();
  }
  // Ids without values, as if they had been made and erased.
  void skip_to(std::size_t size) {
    while (size_ < size) {
      if (size_ % kPage == 0) pages_.emplace_back();
      ++size_;
    }
  }
  std::vector<T> values() const { return {begin(), end()}; }  // of those that are there
  void clear() { *this = IdTable(); }

  const_iterator from(std::size_t id) const { return {this, id}; }  // it, or the next that is there
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size_}; }
  iterator begin() { return {this, 0}; }
  iterator end() { return {this, size_}; }
  auto rbegin() const { return std::make_reverse_iterator(end()); }
  auto rend() const { return std::make_reverse_iterator(begin()); }
  auto rbegin() { return std::make_reverse_iterator(end()); }
  auto rend() { return std::make_reverse_iterator(begin()); }

 private:
  void swap(IdTable& other) noexcept {
    pages_.swap(other.pages_);
    std::swap(size_, other.size_);
    std::swap(present_, other.present_);
    std::swap(generation_, other.generation_);
  }
  bool find(std::size_t id) const {
    return id < size_ && pages_[id / kPage] && pages_[id / kPage]->slots[id % kPage];
  }
  void check(std::size_t id) const {
    if (!find(id)) throw std::out_of_range("there is nothing of this id");
  }
  std::size_t present_from(std::size_t id) const {
    while (id < size_ && !find(id)) id = pages_[id / kPage] ? id + 1 : (id / kPage + 1) * kPage;
    return id < size_ ? id : size_;
  }
  std::size_t present_before(std::size_t id) const {
    do id = pages_[(id - 1) / kPage] ? id - 1 : (id - 1) / kPage * kPage;
    while (!find(id) && id > 0);
    return id;
  }
  Page& own_page(std::size_t number) {
    auto& page = pages_[number];
    if (!page)
      page = std::make_shared<Page>();
    else if (page->generation != generation_)
      page = std::make_shared<Page>(*page);
    page->generation = generation_;
    return *page;
  }
  Slot& own(std::size_t id) {
    assert(contains(static_cast<std::int64_t>(id)));
    auto& slot = own_page(id / kPage).slots[id % kPage];
    if (slot->generation != generation_) slot = std::make_shared<Slot>(Slot{generation_, slot->value});
    return *slot;
  }

  std::vector<std::shared_ptr<Page>> pages_;
  std::size_t size_ = 0, present_ = 0;
  std::uint64_t generation_ = 1;  // no page or slot has a later one
};

}  // namespace tandem
