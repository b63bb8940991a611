// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: the options of a program, as far as hpx::init reads them.
#pragma once

#include <any>
#include <functional>
#include <iomanip>
#include <map>
#include <memory>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace hpx::program_options {

class error : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

class variable_value {
 public:
  variable_value() = default;
  variable_value(std::any value, bool defaulted)
      : m_value(std::move(value)), m_is_default(defaulted) {}
  template <class T>
  const T &as() const {
    if (const T *value = std::any_cast<T>(&m_value))
      return *value;
    throw error(m_value.has_value() ? "an option is asked for by another type than its own"
                                    : "an option that was not given is asked for");
  }
  [[nodiscard]] bool empty() const noexcept { return !m_value.has_value(); }
  [[nodiscard]] bool defaulted() const noexcept { return m_is_default; }

 private:
  std::any m_value;
  bool m_is_default = false;
};

class variables_map : public std::map<std::string, variable_value> {
 public:
  const variable_value &operator[](const std::string &name) const {
    static const variable_value g_none;
    const auto found = find(name);
    return found == end() ? g_none : found->second;
  }
};

/// Says how the text of an option becomes its value.
class value_semantic {
 public:
  virtual ~value_semantic() = default;
  virtual void parse(const std::string &text, const std::string &name, std::any &value) const = 0;
  virtual void notify(const std::any &value) const = 0;
  [[nodiscard]] virtual bool takes_text() const { return true; }
  std::any fallback, implicit;
  std::string shown; // of the default, for the help
  bool is_required = false;
};

namespace detail {
template <class T>
struct element_of {
  using type = T;
};
template <class T>
struct element_of<std::vector<T>> {
  using type = T;
};
} // namespace detail

template <class T>
class typed_value : public value_semantic {
 public:
  explicit typed_value(T *to) : m_to(to) {}
  typed_value *default_value(const T &value) {
    std::ostringstream text;
    if constexpr (requires { text << value; })
      text << value;
    return default_value(value, text.str());
  }
  typed_value *default_value(const T &value, const std::string &text) {
    fallback = value;
    shown = text;
    return this;
  }
  typed_value *implicit_value(const T &value) {
    implicit = value;
    return this;
  }
  typed_value *notifier(std::function<void(const T &)> f) {
    m_notifier = std::move(f);
    return this;
  }
  typed_value *required() {
    is_required = true;
    return this;
  }
  typed_value *composing() { return this; }
  typed_value *multitoken() { return this; }

  void parse(const std::string &text, const std::string &name, std::any &value) const override {
    using element = typename detail::element_of<T>::type;
    element parsed{};
    if constexpr (std::is_same_v<element, std::string>) {
      parsed = text;
    } else {
      std::istringstream in(text);
      in >> std::boolalpha >> parsed;
      if (in.fail() || in.peek() != std::istringstream::traits_type::eof())
        throw error("the argument ('" + text + "') for option '--" + name + "' is invalid");
    }
    if constexpr (std::is_same_v<element, T>) {
      value = std::move(parsed);
    } else {
      if (!value.has_value())
        value = T();
      std::any_cast<T &>(value).push_back(std::move(parsed));
    }
  }
  void notify(const std::any &value) const override {
    const T &v = std::any_cast<const T &>(value);
    if (m_to)
      *m_to = v;
    if (m_notifier)
      m_notifier(v);
  }

 private:
  T *m_to;
  std::function<void(const T &)> m_notifier;
};

template <class T>
typed_value<T> *value(T *to = nullptr) {
  return new typed_value<T>(to); // options_description owns it
}

namespace detail {
class switch_value : public typed_value<bool> {
 public:
  explicit switch_value(bool *to) : typed_value<bool>(to) { fallback = false; }
  [[nodiscard]] bool takes_text() const override { return false; }
};
} // namespace detail
inline typed_value<bool> *bool_switch(bool *to = nullptr) { return new detail::switch_value(to); }

struct option {
  std::string name; // "long,s"
  std::shared_ptr<value_semantic> semantic; // null: a flag
  std::string text;
  [[nodiscard]] std::string long_name() const { return name.substr(0, name.find(',')); }
  [[nodiscard]] std::string short_name() const {
    const auto comma = name.find(',');
    return comma == std::string::npos ? "" : name.substr(comma + 1);
  }
};

class options_description;

/// Adds options, one for each call.
class options_description_easy_init {
 public:
  explicit options_description_easy_init(options_description &to) : m_to(&to) {}
  inline options_description_easy_init &operator()(const char *name, const char *text = "");
  inline options_description_easy_init &operator()(const char *name, const value_semantic *semantic,
                                                   const char *text = "");

 private:
  options_description *m_to;
};

class options_description {
 public:
  options_description() = default;
  explicit options_description(std::string caption, unsigned /*width*/ = 80)
      : m_caption(std::move(caption)) {}
  options_description_easy_init add_options() { return options_description_easy_init(*this); }
  options_description &add(const options_description &other) {
    m_options.insert(m_options.end(), other.m_options.begin(), other.m_options.end());
    return *this;
  }
  void add(option added) { m_options.push_back(std::move(added)); }
  [[nodiscard]] const option *find(const std::string &name) const {
    for (const option &o : m_options)
      if (o.long_name() == name || (!o.short_name().empty() && o.short_name() == name))
        return &o;
    return nullptr;
  }
  [[nodiscard]] const std::vector<option> &options() const noexcept { return m_options; }
  friend std::ostream &operator<<(std::ostream &out, const options_description &options) {
    if (!options.m_caption.empty())
      out << options.m_caption << ":\n";
    for (const option &o : options.m_options) {
      std::string left = "  --" + o.long_name();
      if (!o.short_name().empty())
        left = "  -" + o.short_name() + " [ --" + o.long_name() + " ]";
      if (o.semantic && o.semantic->takes_text())
        left += o.semantic->shown.empty() ? " arg" : " arg (=" + o.semantic->shown + ")";
      out << std::left << std::setw(38) << left << ' ' << o.text << '\n';
    }
    return out;
  }

 private:
  std::string m_caption;
  std::vector<option> m_options;
};

inline options_description_easy_init &options_description_easy_init::operator()(const char *name,
                                                                                const char *text) {
  m_to->add({name, nullptr, text});
  return *this;
}
inline options_description_easy_init &
options_description_easy_init::operator()(const char *name, const value_semantic *semantic,
                                          const char *text) {
  m_to->add({name, std::shared_ptr<value_semantic>(const_cast<value_semantic *>(semantic)), text});
  return *this;
}

namespace detail {
/// Reads the options of a command line. Throws error for what it does not know.
inline variables_map parse(const std::vector<std::string> &words,
                           const options_description &known) {
  std::map<std::string, std::any> given;
  for (std::size_t i = 0; i != words.size(); ++i) {
    const std::string &word = words[i];
    if (word.size() < 2 || word[0] != '-')
      throw error("the program takes no argument '" + word + "' that belongs to no option");
    const bool is_long = word[1] == '-';
    const auto equals = word.find('=');
    const std::string name = word.substr(
        is_long ? 2 : 1, equals == std::string::npos ? equals : equals - (is_long ? 2 : 1));
    const option *const o = known.find(name);
    if (!o)
      throw error("unrecognised option '" + word + "'");
    std::any &value = given[o->long_name()];
    if (!o->semantic || !o->semantic->takes_text()) {
      value = true;
    } else if (equals != std::string::npos) {
      o->semantic->parse(word.substr(equals + 1), o->long_name(), value);
    } else if (i + 1 != words.size() &&
               (words[i + 1].empty() || words[i + 1][0] != '-' ||
                words[i + 1].find_first_not_of("-.0123456789") == std::string::npos)) {
      o->semantic->parse(words[++i], o->long_name(), value);
    } else if (o->semantic->implicit.has_value()) {
      value = o->semantic->implicit;
    } else {
      throw error("the required argument for option '--" + o->long_name() + "' is missing");
    }
  }
  variables_map all;
  for (const option &o : known.options()) {
    const auto found = given.find(o.long_name());
    const bool is_given = found != given.end();
    if (!is_given && o.semantic && o.semantic->is_required)
      throw error("the option '--" + o.long_name() + "' is required but missing");
    std::any v = is_given ? found->second : o.semantic ? o.semantic->fallback : std::any();
    if (!v.has_value())
      continue;
    if (o.semantic)
      o.semantic->notify(v);
    all.insert_or_assign(o.long_name(), variable_value(std::move(v), !is_given));
  }
  return all;
}
} // namespace detail

} // namespace hpx::program_options
