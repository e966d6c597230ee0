"""Load: smoothed shares, whatever the system tells or does not."""

from pathlib import Path

from node.crawling.machine_load import LEAST_RATE, LoadMeter, MachineReading, read_machine


def test_the_first_reading_counts_and_later_ones_only_bend_it():
    meter = LoadMeter()
    first = meter.take(0.0, MachineReading(cpu=0.5, memory=0.25), disk=0.1)
    assert (first.cpu, first.memory, first.disk, first.network) == (50, 25, 10, 0)
    for second in range(5, 60, 5):
        meter.take(float(second), MachineReading(cpu=0.5, memory=0.25), disk=0.1)
    peak = meter.take(60.0, MachineReading(cpu=4.0, memory=0.25), disk=2.0)
    assert peak.cpu == 60 and peak.disk == 100
    assert 50 < meter.take(65.0, MachineReading(cpu=0.5), disk=0.0).cpu < 60


def test_the_network_is_measured_against_the_most_that_was_seen():
    meter, moved = LoadMeter(), 0
    for tick in range(60):
        moved += int(5 * LEAST_RATE * (4 if tick < 30 else 1))
        load = meter.take(5.0 * tick, MachineReading(moved_bytes=moved), disk=0.0)
        if tick == 29:
            assert load.network == 100
    assert 24 <= load.network <= 30
    assert meter.take(301.0, MachineReading(moved_bytes=0), disk=0.0).network <= load.network  # counters began anew


def test_this_machine_and_one_that_tells_nothing_can_be_read(tmp_path: Path):
    for reading in (read_machine(), read_machine(tmp_path)):
        assert reading.cpu >= 0 and 0 < reading.memory <= 1
    assert read_machine(tmp_path).moved_bytes is None


def test_proc_is_read_without_loopback(tmp_path: Path):
    (tmp_path / "net").mkdir()
    row = "  {}: {} 1 0 0 0 0 0 0 {} 1 0 0 0 0 0 0\n"
    (tmp_path / "net" / "dev").write_text("Inter-|\n face |\n" + row.format("lo", 99, 99) + row.format("eth0", 30, 12))
    (tmp_path / "meminfo").write_text("MemTotal: 1000 kB\nMemAvailable: 750 kB\n")
    reading = read_machine(tmp_path)
    assert (reading.moved_bytes, reading.memory) == (42, 0.25)
