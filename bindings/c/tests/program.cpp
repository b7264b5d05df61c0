// Known answers and bad input through the C++ header, with the arguments of program.c: N, x and y in hex, T; then
// a VRF public key, input, proof and output of draft03-cardano; then an XMSS public key, message and signature.
#include "tetralith.hpp"

#include <cstdio>
#include <cstdlib>

using namespace tetralith;

static int failures;

static void expect(const char *what, bool holds) {
    if (!holds) {
        std::printf("%s\n", what);
        failures++;
    }
}

// Runs what must throw that kind, with that code.
template <class Kind, class Work> static void throws(const char *what, const char *code, Work work) {
    try {
        work();
        expect(what, false);
    } catch (const Kind &thrown) {
        expect(what, thrown.code() == code && *thrown.what() != '\0');
    }
}

template <class Work> static void refuses(const char *what, Work work) {
    try {
        work();
        expect(what, false);
    } catch (const std::invalid_argument &) {
    }
}

static bytes from_hex(std::string_view hex) {
    bytes all;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        all.push_back(static_cast<std::uint8_t>(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
    }
    return all;
}

static void delays(const bytes &number, const bytes &x, const bytes &y, std::uint64_t count) {
    vdf::modulus n{view(number)};
    expect("y", n.compute(x, count) == y);
    for (auto system : {vdf::system::wesolowski, vdf::system::n_wesolowski, vdf::system::pietrzak}) {
        const auto input = n.hash_to_element(100, "a public seed");
        const auto made = n.prove(input, 100, system, 2);
        n.verify(input, 100, made.y, made.proof);
        n.verify(input, 100, {}, made.proof);
        throws<not_valid>("another count", "verification.other_statement",
                          [&] { n.verify(input, 101, made.y, made.proof); });
        auto cut = made.proof;
        cut.pop_back();
        throws<malformed>("a cut proof", "input.malformed", [&] { n.verify(input, 100, made.y, cut); });
    }
    const std::uint64_t forever = std::uint64_t(1) << 50;
    throws<environment>("stopped", "interrupted",
                        [&] { n.compute(x, forever, [](std::uint64_t, std::uint64_t) { return false; }); });
    bool reached = false;
    try {
        n.prove(x, forever, vdf::system::pietrzak, 1, [](std::uint64_t, std::uint64_t) -> bool { throw 42; });
    } catch (int thrown) {
        reached = thrown == 42;
    }
    expect("the listener's exception", reached);
    throws<malformed>("even", "input.modulus", [] { vdf::modulus(view(bytes(32, 2))); });
    throws<malformed>("empty", "input.modulus", [] { vdf::modulus{view{}}; });
    vdf::modulus moved = std::move(n);
    expect("moved", moved.width() == number.size());
    refuses("moved from", [&] { n.compute(x, 1); });
}

static void randomness(const bytes &key, const bytes &alpha, const bytes &proof, const bytes &output) {
    const auto suite = vrf::suite::draft03_cardano;
    expect("output", vrf::verify(suite, key, alpha, proof) == output);
    throws<not_valid>("another input", "verification.failed", [&] { vrf::verify(suite, key, "other", proof); });
    throws<malformed>("a short proof", "input.length", [&] { vrf::verify(suite, key, alpha, key); });
    refuses("no suite", [&] { vrf::verify(static_cast<vrf::suite>(99), key, alpha, proof); });
    const std::array<std::uint8_t, 32> secret{7};
    const auto ours = vrf::public_key(suite, secret);
    const auto made = vrf::prove(suite, secret, "slot");
    vrf::verify(suite, ours, "slot", made);
    throws<malformed>("a short key", "input.length", [&] { vrf::prove(suite, "short", "slot"); });
    const auto verdicts = vrf::verify_many(suite, {key, ours, key}, {alpha, "slot", "slot"}, {proof, made, made});
    expect("verdicts", verdicts == bytes({TETRALITH_OK, TETRALITH_OK, TETRALITH_NOT_VALID}));
    expect("none", vrf::verify_many(suite, {}, {}, {}).empty());
    refuses("a short column", [&] { vrf::verify_many(suite, {key}, {}, {proof}); });
    throws<malformed>("a short row", "input.length", [&] { vrf::verify_many(suite, {key}, {alpha}, {key}); });
}

static void signatures(const bytes &raw, const bytes &message, const bytes &signature) {
    const xmss::public_key key(xmss::format::raw, raw);
    expect("signature size", key.signature_size() == signature.size());
    key.verify(message, signature);
    throws<not_valid>("another message", "verification.failed", [&] { key.verify("other", signature); });
    throws<malformed>("a short signature", "input.length", [&] { key.verify(message, raw); });
    throws<malformed>("no PEM", "input.malformed", [] { xmss::public_key(xmss::format::pem, "-----"); });
    const auto verdicts = key.verify_many({message, "other"}, {signature, signature});
    expect("verdicts", verdicts == bytes({TETRALITH_OK, TETRALITH_NOT_VALID}));
    throws<malformed>("a short row", "input.length", [&] { key.verify_many({message}, {raw}); });
}

int main(int count, char **arguments) {
    if (count != 12) {
        return 2;
    }
    const auto hex = [&](int i) { return from_hex(arguments[i]); };
    expect("version", !version().empty());
    delays(hex(1), hex(2), hex(3), std::strtoull(arguments[4], nullptr, 10));
    randomness(hex(5), hex(6), hex(7), hex(8));
    signatures(hex(9), hex(10), hex(11));
    return failures != 0;
}
