// C++17 over tetralith.h: handles that free themselves, exceptions by kind, views of bytes.
//
// Everything is inline and calls the C interface; link libtetralith. A function throws not_valid, malformed,
// environment or state, all of them an error with the command's stable code, or std::invalid_argument for a
// mistake of the calling program. Objects may be shared between threads for reading.
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef TETRALITH_HPP
#define TETRALITH_HPP

#include "tetralith.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tetralith {

using bytes = std::vector<std::uint8_t>;

// Bytes of the caller's: a vector, an array or a text. They must outlive the call.
class view {
  public:
    view() = default;
    view(const std::uint8_t *data, std::size_t size) : data_(data), size_(size) {}
    view(const bytes &all) : view(all.data(), all.size()) {}
    view(std::string_view text) : view(reinterpret_cast<const std::uint8_t *>(text.data()), text.size()) {}
    view(const char *text) : view(std::string_view(text)) {}
    template <std::size_t N> view(const std::array<std::uint8_t, N> &all) : view(all.data(), N) {}

    const std::uint8_t *data() const { return data_; }
    std::size_t size() const { return size_; }

  private:
    const std::uint8_t *data_ = nullptr;
    std::size_t size_ = 0;
};

// A failure with the stable, dotted code that the command prints.
class error : public std::runtime_error {
  public:
    error(std::string code, const std::string &message) : std::runtime_error(message), code_(std::move(code)) {}
    const std::string &code() const noexcept { return code_; }

  private:
    std::string code_;
};

// Well formed, and not valid.
class not_valid : public error { using error::error; };
// Malformed input.
class malformed : public error { using error::error; };
// The machine or the system failed, or the caller stopped the work.
class environment : public error { using error::error; };
// The durable state refuses.
class state : public error { using error::error; };

// The version of the linked library.
inline std::string version() { return tetralith_version(); }

namespace detail {

// Throws what failed last on this thread.
[[noreturn]] inline void fail(std::int32_t status) {
    std::string text(tetralith_last_error(nullptr, 0), '\0');
    // C++ allows the final NUL to be overwritten by a NUL.
    tetralith_last_error(text.data(), text.size() + 1);
    const auto colon = text.find(": ");
    const auto code = text.substr(0, colon);
    const auto message = colon == std::string::npos ? text : text.substr(colon + 2);
    switch (status) {
    case TETRALITH_NOT_VALID: throw not_valid(code, message);
    case TETRALITH_MALFORMED: throw malformed(code, message);
    case TETRALITH_ENVIRONMENT: throw environment(code, message);
    case TETRALITH_STATE: throw state(code, message);
    case TETRALITH_ARGUMENT: throw std::invalid_argument(text);
    default: throw std::logic_error(text);
    }
}

inline void check(std::int32_t status) {
    if (status != TETRALITH_OK) {
        fail(status);
    }
}

// Messages one after the other, and where each begins and the last ends.
struct joined {
    bytes all;
    std::vector<std::uint64_t> offsets{0};

    explicit joined(const std::vector<view> &messages) {
        for (const auto &message : messages) {
            all.insert(all.end(), message.data(), message.data() + message.size());
            offsets.push_back(all.size());
        }
    }
};

// Rows of one width, or malformed: the C interface counts in widths.
inline bytes fixed(const char *name, const std::vector<view> &rows, std::size_t width) {
    bytes all;
    all.reserve(rows.size() * width);
    for (const auto &row : rows) {
        if (row.size() != width) {
            throw malformed("input.length", std::string(name) + " has " + std::to_string(row.size())
                                                + " bytes, expected " + std::to_string(width));
        }
        all.insert(all.end(), row.data(), row.data() + row.size());
    }
    return all;
}

inline void same(std::size_t found, std::size_t expected) {
    if (found != expected) {
        throw std::invalid_argument("a column has " + std::to_string(found) + " rows, another has "
                                    + std::to_string(expected));
    }
}

// Carries an exception of a listener past the C frames.
struct watch {
    const std::function<bool(std::uint64_t, std::uint64_t)> &listener;
    std::exception_ptr thrown;

    static std::int32_t step(void *user, std::uint64_t done, std::uint64_t total) {
        auto &self = *static_cast<watch *>(user);
        try {
            return !self.listener || self.listener(done, total) ? 0 : 1;
        } catch (...) {
            self.thrown = std::current_exception();
            return 1;
        }
    }

    void finish(std::int32_t status) const {
        if (thrown) {
            std::rethrow_exception(thrown);
        }
        check(status);
    }
};

} // namespace detail

// Verifiable random functions. RFC 9381.
namespace vrf {

enum class suite : std::int32_t {
    draft03_cardano = TETRALITH_VRF_DRAFT03_CARDANO,
    draft03_algorand = TETRALITH_VRF_DRAFT03_ALGORAND,
    draft13_batchcompat = TETRALITH_VRF_DRAFT13_BATCHCOMPAT,
    edwards25519_tai = TETRALITH_VRF_EDWARDS25519_TAI,
    edwards25519_ell2 = TETRALITH_VRF_EDWARDS25519_ELL2,
    p256_tai = TETRALITH_VRF_P256_TAI,
    p256_sswu = TETRALITH_VRF_P256_SSWU,
    secp256k1_tai = TETRALITH_VRF_SECP256K1_TAI,
};

// Lengths in bytes.
struct sizes {
    std::size_t public_key, proof, output;

    explicit sizes(suite of) {
        detail::check(tetralith_vrf_sizes(static_cast<std::int32_t>(of), &public_key, &proof, &output));
    }
};

// Verifies a proof and returns its output. Variable time: all is public.
inline bytes verify(suite of, view public_key, view alpha, view proof) {
    bytes output(sizes(of).output);
    detail::check(tetralith_vrf_verify(static_cast<std::int32_t>(of), public_key.data(), public_key.size(),
                                       alpha.data(), alpha.size(), proof.data(), proof.size(), output.data(),
                                       output.size()));
    return output;
}

// The public key of a 32-byte secret key.
inline bytes public_key(suite of, view secret_key) {
    bytes key(sizes(of).public_key);
    detail::check(tetralith_vrf_public_key(static_cast<std::int32_t>(of), secret_key.data(), secret_key.size(),
                                           key.data(), key.size()));
    return key;
}

// Makes a proof with a 32-byte secret key. Constant time in the key.
inline bytes prove(suite of, view secret_key, view alpha) {
    bytes proof(sizes(of).proof);
    detail::check(tetralith_vrf_prove(static_cast<std::int32_t>(of), secret_key.data(), secret_key.size(),
                                      alpha.data(), alpha.size(), proof.data(), proof.size()));
    return proof;
}

// Verifies columns of proofs on all cores: a TETRALITH_ status for each row, as of `verify`.
inline bytes verify_many(suite of, const std::vector<view> &public_keys, const std::vector<view> &alphas,
                         const std::vector<view> &proofs) {
    detail::same(alphas.size(), public_keys.size());
    detail::same(proofs.size(), public_keys.size());
    const sizes size(of);
    const auto keys = detail::fixed("a public key", public_keys, size.public_key);
    const auto all = detail::fixed("a proof", proofs, size.proof);
    const detail::joined inputs(alphas);
    bytes verdicts(public_keys.size());
    detail::check(tetralith_vrf_verify_many(static_cast<std::int32_t>(of), verdicts.size(), keys.data(),
                                            inputs.all.data(), inputs.all.size(), inputs.offsets.data(),
                                            all.data(), verdicts.data(), nullptr));
    return verdicts;
}

} // namespace vrf

// XMSS and XMSS^MT. RFC 8391.
namespace xmss {

enum class format : std::int32_t {
    raw = TETRALITH_XMSS_RAW,
    raw_multi_tree = TETRALITH_XMSS_RAW_MULTI_TREE,
    pem = TETRALITH_XMSS_PEM,
    der = TETRALITH_XMSS_DER,
    qrl = TETRALITH_XMSS_QRL,
};

// A public key, which can be moved.
class public_key {
  public:
    public_key(format as, view key) {
        tetralith_xmss_public_key *made = nullptr;
        detail::check(tetralith_xmss_public_key_new(static_cast<std::int32_t>(as), key.data(), key.size(), &made));
        key_.reset(made);
    }

    std::size_t signature_size() const { return tetralith_xmss_signature_size(key_.get()); }

    // Returns if the signature is valid. Variable time: all is public.
    void verify(view message, view signature) const {
        detail::check(tetralith_xmss_verify(key_.get(), message.data(), message.size(), signature.data(),
                                            signature.size()));
    }

    // Verifies columns on all cores: a TETRALITH_ status for each row, as of `verify`.
    bytes verify_many(const std::vector<view> &messages, const std::vector<view> &signatures) const {
        detail::same(signatures.size(), messages.size());
        const auto all = detail::fixed("a signature", signatures, signature_size());
        const detail::joined inputs(messages);
        bytes verdicts(messages.size());
        detail::check(tetralith_xmss_verify_many(key_.get(), verdicts.size(), inputs.all.data(),
                                                 inputs.all.size(), inputs.offsets.data(), all.data(),
                                                 verdicts.data()));
        return verdicts;
    }

  private:
    struct release {
        void operator()(tetralith_xmss_public_key *key) const { tetralith_xmss_public_key_free(key); }
    };
    std::unique_ptr<tetralith_xmss_public_key, release> key_;
};

} // namespace xmss

// Sequential squaring, and proofs of it.
namespace vdf {

enum class system : std::int32_t {
    wesolowski = TETRALITH_VDF_WESOLOWSKI,
    n_wesolowski = TETRALITH_VDF_N_WESOLOWSKI,
    pietrzak = TETRALITH_VDF_PIETRZAK,
};

// Called a few times a second with the squarings done and those of the whole run. False stops the run with
// `environment`, and an exception reaches the caller of the computation.
using progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

struct proved {
    bytes y, proof;
};

// An odd modulus N in big-endian bytes, which can be moved.
class modulus {
  public:
    explicit modulus(view number) {
        tetralith_vdf *made = nullptr;
        detail::check(tetralith_vdf_new(number.data(), number.size(), &made));
        modulus_.reset(made);
    }

    // The length in bytes of every number modulo N.
    std::size_t width() const { return tetralith_vdf_width(modulus_.get()); }

    // Hashes a public seed to the input x. Of an x that somebody chose, outputs combine.
    bytes hash_to_element(std::uint64_t iterations, view seed) const {
        bytes x(width());
        detail::check(tetralith_vdf_hash_to_element(modulus_.get(), iterations, seed.data(), seed.size(),
                                                    x.data(), x.size()));
        return x;
    }

    // x^(2^iterations) mod N.
    bytes compute(view x, std::uint64_t iterations, const progress &listener = {}) const {
        bytes y(width());
        detail::watch watch{listener, nullptr};
        watch.finish(tetralith_vdf_compute(modulus_.get(), x.data(), x.size(), iterations, detail::watch::step,
                                           &watch, y.data(), y.size()));
        return y;
    }

    // The same with a proof.
    proved prove(view x, std::uint64_t iterations, system as, std::size_t threads = 1,
                 const progress &listener = {}) const {
        proved result{bytes(width()), {}};
        std::uint8_t *made = nullptr;
        std::size_t size = 0;
        detail::watch watch{listener, nullptr};
        watch.finish(tetralith_vdf_prove(modulus_.get(), x.data(), x.size(), iterations,
                                         static_cast<std::int32_t>(as), threads, detail::watch::step, &watch,
                                         result.y.data(), result.y.size(), &made, &size));
        const auto release = [size](std::uint8_t *all) { tetralith_bytes_free(all, size); };
        const std::unique_ptr<std::uint8_t, decltype(release)> owner(made, release);
        result.proof.assign(made, made + size);
        return result;
    }

    // Returns if the proof is one of exactly this N, x, number of squarings and y; an empty y is any y.
    void verify(view x, std::uint64_t iterations, view y, view proof) const {
        detail::check(tetralith_vdf_verify(modulus_.get(), x.data(), x.size(), iterations, y.data(), y.size(),
                                           proof.data(), proof.size()));
    }

  private:
    struct release {
        void operator()(tetralith_vdf *modulus) const { tetralith_vdf_free(modulus); }
    };
    std::unique_ptr<tetralith_vdf, release> modulus_;
};

} // namespace vdf

} // namespace tetralith

#endif
