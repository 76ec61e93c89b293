//! Tests of the kinds of NetBox in prose.

use super::check;

#[test]
fn devices_and_where_they_stand() {
    check(&[
        (
            "ams1-core-01, SW-NYC-01 and fw-02 are up.",
            &["device ams1-core-01", "device SW-NYC-01", "device fw-02"],
        ),
        ("nyc-foo-12", &["device nyc-foo-12"]),
        ("(ams1-pdu-a01)", &["device ams1-pdu-a01"]),
        ("device \"Old Core\" failed", &["device Old Core"]),
        ("server db01 is slow", &["device db01"]),
        ("the switch failed 3 times", &[]),
        ("at AMS1 and NYC-DC1", &["site AMS1", "site NYC-DC1"]),
        ("site Amsterdam AMS1", &["site Amsterdam AMS1"]),
        ("site gru1 is up", &["site gru1"]),
        ("site is down", &[]),
        (
            "rack A12, rack AMS1-A01 and ZRH1-R1",
            &["rack A12", "rack AMS1-A01", "rack ZRH1-R1"],
        ),
        ("rack \"Row 3\"", &["rack Row 3"]),
        ("rack the servers", &[]),
        (
            "an Arista or a Juniper",
            &["manufacturer Arista", "manufacturer Juniper"],
        ),
        ("manufacturer Foo Networks", &["manufacturer Foo Networks"]),
        ("the manufacturer is unknown", &[]),
        (
            "a DCS-7280SR3-48YC8 and a PowerEdge R650, an MX204",
            &[
                "device_type DCS-7280SR3-48YC8",
                "device_type PowerEdge R650",
                "device_type MX204",
            ],
        ),
        ("device type \"Foo 9\"", &["device_type Foo 9"]),
        ("device type unknown", &[]),
        ("role core-switch", &["device_role core-switch"]),
        ("role: Access switch", &["device_role Access switch"]),
        ("a role in it", &[]),
    ]);
}

#[test]
fn what_is_plugged_in() {
    check(&[
        (
            "GigabitEthernet1/0/1, Gi0/1, xe-0/0/1, Ethernet49/1, eth0.100",
            &[
                "interface GigabitEthernet1/0/1",
                "interface Gi0/1",
                "interface xe-0/0/1",
                "interface Ethernet49/1",
                "interface eth0.100",
            ],
        ),
        (
            "Management1 and fxp0, Po10 and bond0",
            &[
                "interface Management1",
                "interface fxp0",
                "interface Po10",
                "interface bond0",
            ],
        ),
        ("the ethernet port", &[]),
        (
            "cable FIB-2574 and cable #905",
            &["cable FIB-2574", "cable #905"],
        ),
        ("cable \"blue one\"", &["cable blue one"]),
        ("a cable is loose", &[]),
        ("PSU1 and PSU-2", &["power_port PSU1", "power_port PSU-2"]),
        ("power port AC-IN1", &["power_port IN1"; 0]),
        ("power port \"AC in\"", &["power_port AC in"]),
        ("the power port is free", &[]),
        (
            "outlet 12 and power outlet A-3",
            &["power_outlet 12", "power_outlet A-3"],
        ),
        ("an outlet is free", &[]),
        (
            "power feed A and power feed \"P1 left\"",
            &["power_feed A", "power_feed P1 left"],
        ),
        ("the power feed was cut", &[]),
        (
            "VM interface eth0 and vmnic3, vnet12",
            &[
                "vm_interface eth0",
                "vm_interface vmnic3",
                "vm_interface vnet12",
            ],
        ),
        ("a VM interface is down", &[]),
    ]);
}

#[test]
fn addresses() {
    check(&[
        (
            "ping 10.10.10.11, then 10.10.10.11/24.",
            &["ip_address 10.10.10.11", "ip_address 10.10.10.11/24"],
        ),
        ("10.0.0.1:8080", &["ip_address 10.0.0.1"]),
        (
            "2001:db8::1 and fe80::1/64 and ::1",
            &[
                "ip_address 2001:db8::1",
                "ip_address fe80::1/64",
                "ip_address ::1",
            ],
        ),
        ("999.1.1.1 or 1.2.3 or 12:30:45", &[]),
        (
            "10.0.0.0/8, 192.168.4.0/22 and 2001:db8::/32",
            &[
                "prefix 10.0.0.0/8",
                "prefix 192.168.4.0/22",
                "prefix 2001:db8::/32",
            ],
        ),
        ("10.0.0.1/32", &["ip_address 10.0.0.1/32"]),
        ("10.0.0.0/99", &[]),
        (
            "VLAN 100, vlan10, VLAN-20",
            &["vlan 100", "vlan 10", "vlan 20"],
        ),
        ("vlan acme-web", &["vlan acme-web"]),
        ("VLAN 4095 and VLAN 0", &[]),
        ("vrf mgmt and VRF: pci", &["vrf mgmt", "vrf pci"]),
        ("the vrf is full", &[]),
        (
            "00:1C:73:23:AB:A5, 001c.7323.aba5",
            &[
                "mac_address 00:1C:73:23:AB:A5",
                "mac_address 001c.7323.aba5",
            ],
        ),
        ("00:00:00:00:00:00 ff:ff:ff:ff:ff:ff", &[]),
    ]);
}

#[test]
fn whose_and_what_runs() {
    check(&[
        ("tenant Acme Retail pays", &["tenant Acme Retail"]),
        ("tenant acme-retail", &["tenant acme-retail"]),
        ("the tenant is gone", &[]),
        ("tenant group Customers", &["tenant_group Customers"]),
        ("tenant group \"Big ones\"", &["tenant_group Big ones"]),
        ("a tenant group is empty", &[]),
        ("contact Zoë Müller", &["contact Zoë Müller"]),
        ("contact support", &[]),
        ("cluster ams1-pve-01", &["cluster ams1-pve-01"]),
        ("the cluster failed", &[]),
        (
            "VM acme-web-01 and virtual machine db01",
            &["virtual_machine acme-web-01", "virtual_machine db01"],
        ),
        ("VM \"gitlab\"", &["virtual_machine gitlab"]),
        ("the VM is up", &[]),
    ]);
}

#[test]
fn power_feeds_in_text() {
    check(&[
        ("power feed FEED-A is down", &["power_feed FEED-A"]),
        ("power feed A", &["power_feed A"]),
        (
            "Power feed PF-1 and power feed \"North 2\"",
            &["power_feed PF-1", "power_feed North 2"],
        ),
        ("the power feed is down", &[]),
    ]);
}
