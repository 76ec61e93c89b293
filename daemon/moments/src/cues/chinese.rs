//! Chinese cues: phrases inside of a sentence, because words are not separated.

use super::By::{Agent, Anyone, User};
use super::{By, CueSum};
use crate::durable::DurableKind::{Correction, Decision, Finding, Preference, Remember, Rule};
use crate::durable::{DurableKind, Speaker};

const ROWS: &[(Option<DurableKind>, f32, By, &str)] = &[
    (Some(Remember), 2.0, User, "记住 记得 请记 备忘 别忘了 牢记"),
    (
        Some(Decision),
        2.0,
        Anyone,
        "我们决定 决定用 决定采用 已决定 我们选择 我们选了 选用 改用 从现在起 从今以后 从此 以后都 我们同意 确定用 就用 定为 决定是 决定不 决定把 决定将",
    ),
    (
        Some(Decision),
        1.2,
        Anyone,
        "而不是 代替 暂时只 目前只 我们用 我们使用 保留 不再支持",
    ),
    (
        Some(Rule),
        1.6,
        User,
        "必须 统一 不要 禁止 不得 不能 永远 务必 一律 严禁 不许 不可以 总是 绝不 从不 只能 不允许 以后所有",
    ),
    (
        Some(Rule),
        1.2,
        User,
        "应该 所有 每个 每次 至少 最多 避免 只有",
    ),
    (
        Some(Preference),
        1.6,
        User,
        "我更喜欢 我喜欢 我偏好 我宁愿 我讨厌 我倾向",
    ),
    (
        Some(Correction),
        1.6,
        User,
        "不对 错了 不是这样 应该是 不是 搞错 弄错",
    ),
    (
        Some(Finding),
        1.8,
        Anyone,
        "原因是 根本原因 问题在于 问题出在 是由于 导致 原来是 是因为 发现是",
    ),
    (None, 0.4, Anyone, "因为 以便 所以 直到 否则"),
    (
        None,
        -1.6,
        Anyone,
        "也许 可能 或许 大概 不确定 要不要 是否 如果你 昨天 我觉得",
    ),
    (None, -1.6, User, "请问 为什么 怎么 给我看 吗"),
    (
        None,
        -2.0,
        Agent,
        "我已经 我会 接下来 现在我 让我 我将 测试都通过 都通过了 完成了 首先",
    ),
];

/// Adds up the cues of a sentence.
pub fn sum(sentence: &str, speaker: Speaker) -> CueSum {
    let mut best: (f32, Option<DurableKind>) = (0.0, None);
    let (mut support, mut against) = (0.0_f32, 0.0_f32);
    for (kind, weight, by, phrases) in ROWS {
        if !by.includes(speaker) || !phrases.split(' ').any(|phrase| sentence.contains(phrase)) {
            continue;
        }
        match kind {
            Some(_) if *weight > best.0 => best = (*weight, *kind),
            Some(_) => {}
            None if *weight < 0.0 => against = against.min(*weight),
            None => support = support.max(*weight),
        }
    }
    CueSum {
        weight: best.0 + support + against,
        kind: best.1,
    }
}
