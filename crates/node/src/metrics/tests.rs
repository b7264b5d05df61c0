use super::*;
use crate::identity::Identity;

fn peers() -> (PeerId, Vec<Peer>) {
    let ids = [1, 2].map(|seed| Identity::from_seed(&[seed; 32]).id());
    let address = "/ip4/127.0.0.1/tcp/1".parse().unwrap();
    (ids[0], vec![Peer { name: "b\"".into(), id: ids[1], address }])
}

fn record(peer: &PeerId, reporter: &PeerId, fault: &str) -> CeremonyRecord {
    CeremonyRecord {
        id: String::new(),
        kind: "sign".into(),
        key: None,
        digest: None,
        proposer: String::new(),
        participants: Vec::new(),
        state: State::Failed,
        started_ms: 0,
        ended_ms: Some(30),
        result: None,
        reason: None,
        blames: vec![crate::ceremony::blame(*peer, *reporter, 2, fault, Basis::Absence)],
    }
}

#[test]
fn counters_are_written_with_their_labels() {
    let (me, peers) = peers();
    let metrics = Metrics::new(&me, &peers);
    metrics.sent(&peers[0].id, 10);
    metrics.sent(&peers[0].id, 5);
    metrics.received(&peers[0].id, 7);
    metrics.dropped();
    metrics.round("sign", 2, Duration::from_millis(30));
    metrics.round("sign", 2, Duration::from_secs(60));
    let done = CeremonyRecord {
        state: State::Done,
        blames: Vec::new(),
        ..record(&me, &me, "did not answer")
    };
    metrics.ended(&done);
    let peer = PeerGauges {
        name: "b\"".into(),
        connected: true,
        round_trip: Some(Duration::from_millis(2)),
        queues: [3, 4],
        dropped: 7,
    };
    let now = Gauges { ready: true, waiting: [4, 5], peers: vec![peer], ..Gauges::default() };
    let text = metrics.to_text(&now);
    for expected in [
        "tetralith_ready 1\n",
        "tetralith_peers_connected 1\n",
        "tetralith_peer_connected{peer=\"b\\\"\"} 1\n",
        "tetralith_peer_round_trip_seconds{peer=\"b\\\"\"} 0.002\n",
        "tetralith_peer_queue{peer=\"b\\\"\",queue=\"received\"} 3\n",
        "tetralith_peer_queue{peer=\"b\\\"\",queue=\"unacknowledged\"} 4\n",
        "tetralith_ceremonies_waiting{caller=\"api\"} 4\n",
        "tetralith_ceremonies_waiting{caller=\"peers\"} 5\n",
        "tetralith_peer_dropped_messages_total{peer=\"b\\\"\"} 7\n",
        "tetralith_peer_messages_total{peer=\"b\\\"\",direction=\"sent\"} 2\n",
        "tetralith_peer_bytes_total{peer=\"b\\\"\",direction=\"sent\"} 15\n",
        "tetralith_peer_bytes_total{peer=\"b\\\"\",direction=\"received\"} 7\n",
        "tetralith_dropped_messages_total 1\n",
        "tetralith_ceremonies_total{kind=\"sign\",end=\"done\"} 1\n",
        "tetralith_ceremony_seconds_bucket{kind=\"sign\",le=\"0.025\"} 0\n",
        "tetralith_ceremony_seconds_bucket{kind=\"sign\",le=\"0.05\"} 1\n",
        "tetralith_ceremony_seconds_sum{kind=\"sign\"} 0.03\n",
        "tetralith_round_seconds_bucket{kind=\"sign\",round=\"2\",le=\"30\"} 1\n",
        "tetralith_round_seconds_bucket{kind=\"sign\",round=\"2\",le=\"+Inf\"} 2\n",
        "tetralith_round_seconds_count{kind=\"sign\",round=\"2\"} 2\n",
    ] {
        assert!(text.contains(expected), "{expected}{text}");
    }
}

/// A reason has no figures, and what another node says is no label.
#[test]
fn blames_are_counted_by_bounded_reasons() {
    let (me, peers) = peers();
    let metrics = Metrics::new(&me, &peers);
    let (peer, fault) = (peers[0].id, "the message of 70000 bytes is longer than the limit");
    metrics.ended(&record(&peer, &me, fault));
    metrics.ended(&record(&peer, &me, &fault.replace('7', "8")));
    metrics.ended(&record(&peer, &peer, "any text of a peer"));
    metrics.ended(&record(&me, &peer, "of this node"));
    let text = metrics.to_text(&Gauges::default());
    let series: Vec<_> = text.lines().filter(|l| l.starts_with("tetralith_blames_total")).collect();
    let row = |reason: &str, count| {
        let labels = format!("peer=\"b\\\"\",evidence=\"absence\",reason=\"{reason}\"");
        format!("tetralith_blames_total{{{labels}}} {count}")
    };
    assert_eq!(series, [row("reported by another node", 1), row("the message of", 2)]);
    for number in 0..2 * MOST_BLAMES {
        let letters: String = format!("{number}").chars().map(|c| (c as u8 + 49) as char).collect();
        metrics.ended(&record(&peer, &me, &letters));
    }
    let text = metrics.to_text(&Gauges::default());
    let count = text.lines().filter(|l| l.starts_with("tetralith_blames_total")).count();
    assert_eq!(count, MOST_BLAMES + 1);
}
