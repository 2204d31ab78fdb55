//! What a chat template may make: how much, how deep, and by how long a tag. It is refused, and nothing else happens.
#![cfg(target_os = "linux")]

use std::process::Command;
use std::sync::Arc;

use crate::support::cli::Workspace;
use trajfit::internals::tokens::chat_template::ChatTemplate;

const CHAT: &str = r#"[{"role": "user", "content": "Hi"}]"#;

fn loaded(template: &str) -> Result<Arc<ChatTemplate>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("template.jinja");
    std::fs::write(&path, template).unwrap();
    ChatTemplate::load(path.to_str().unwrap(), "o200k_base").map_err(|error| error.to_string())
}

fn rendered(template: &str, messages: &str) -> Result<String, String> {
    let rendered = loaded(template)?.render(messages, None);
    rendered.map_err(|refusal| refusal.message)
}

/// Checks that the templates are refused with these words.
fn refuses(templates: &[String], words: &str) {
    for template in templates {
        let start: String = template.chars().take(200).collect();
        match rendered(template, CHAT) {
            Ok(text) => panic!("{start}: {} bytes", text.len()),
            Err(said) => assert!(said.contains(words), "{start}: {said}"),
        }
    }
}

fn in_loop(start: &str, step: &str) -> String {
    format!(
        "{{% set ns = namespace({start}) %}}{{% for i in range(20000) %}}{step}{{% endfor %}}{{{{ ns.s|length }}}}"
    )
}

#[test]
fn values_that_lie_too_deep_in_one_another_are_refused() {
    let steps = [
        "{% set ns.s = [ns.s] %}",
        "{% set ns.s = {'a': ns.s} %}",
        "{% set ns.s = {1: ns.s} %}",
        "{% set ns.s = (ns.s, [1]) %}",
        "{% set ns.s = ns.s, [1] %}",
        "{% set ns.s = [ns.s] + [1] %}",
        "{% set ns.s = [ns.s] * 1 %}",
        "{% set ns.s = dict(a=ns.s) %}",
        "{% set ns.s = [ns.s]|list|batch(1)|list %}",
        "{% set ns.s = [ns.s]|map('list') %}",
        "{% set ns.s = {'a': ns.s}.items() %}",
        "{% set ns.s = {'a': ns.s}|dictsort %}",
        "{% set ns.s = [ns.s][::-1] %}",
        "{% set ns.s = [[ns.s]]|zip([1]) %}",
        "{% set ns.s = [{'a': [ns.s]}] %}",
    ];
    let mut templates = steps.map(|step| in_loop("s=[]", step)).to_vec();
    templates.extend([
        // Namespaces and loops may be changed later: none holds another one, or itself.
        in_loop("s=[]", "{% set ns.s = namespace(s=ns.s) %}"),
        in_loop("s=[]", "{% set ns.s = ns %}"),
        in_loop("s=[]", "{% set ns.s = [[ns]] %}"),
        in_loop("s=[]", "{% set ns.s = loop %}"),
        in_loop("s=[]", "{% if loop.changed(loop) %}{% endif %}"),
        "{% set a = namespace() %}{% set b = namespace({'a': a}) %}".to_owned(),
        format!("{{% set x = [] %}}{}", "{% set x = [x] %}".repeat(20_000)),
    ]);
    refuses(&templates, "deeper into one another");
    // Macros end at their own depth.
    for template in [
        "{% macro f(x) %}{{ f([x]) }}{% endmacro %}{{ f(1) }}",
        "{% macro f(x) %}{{ f([[[[[[[[x]]]]]]]]) }}{% endmacro %}{{ f(1) }}",
        "{% include 'chat' %}",
        "{% import 'chat' as c %}",
        "{% for x in [1] recursive %}{{ loop([x]) }}{% endfor %}",
    ] {
        assert!(rendered(template, CHAT).is_err(), "{template}");
    }
}

#[test]
fn a_chat_is_as_deep_as_it_is_and_may_be_kept() {
    let template = "{% set ns = namespace(s=[]) %}{% for m in messages %}{% set ns.s = ns.s + [m] %}{% endfor %}\
        {{ ns.s[-1].tool_calls|tojson }}{% set o = loop %}{% set n = [namespace(a=1)] %}{{ n[0].a }}{{ (1, [2]) }}";
    let nested = format!("{}1{}", "[".repeat(250), "]".repeat(250));
    let chat = format!(r#"[{{"role": "assistant", "tool_calls": {nested}}}]"#);
    assert_eq!(rendered(template, &chat), Ok(format!("{nested}1(1, [2])")));
    let deeper = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let chat = format!(r#"[{{"role": "assistant", "tool_calls": {deeper}}}]"#);
    let said = rendered(template, &chat).unwrap_err();
    assert!(said.contains("nested too deep"), "{said}");
}

#[test]
fn tags_that_the_engine_would_call_itself_too_often_for_are_no_template() {
    let many = 100_000;
    let after = |step: &str| format!("{{{{ a{} }}}}", step.repeat(many));
    let around = |open: &str, close: &str| format!("{{{{ {}a{} }}}}", open.repeat(many), close.repeat(many));
    let blocks = |open: &str, close: &str| open.repeat(many) + &close.repeat(many);
    let mut templates: Vec<String> = [
        " + a",
        " ~ a",
        " * a",
        " ** 1",
        " and a",
        " or a",
        "|upper",
        ".x",
        ".f()",
        "[0]",
        "[1:]",
        "()",
        " if a else a",
        " is none",
        " - a",
    ]
    .map(after)
    .to_vec();
    templates.extend(
        [
            ("(", ")"),
            ("[", "]"),
            ("{'a':", "}"),
            ("f(", ")"),
            ("not ", ""),
            ("-", ""),
            ("not (", ")"),
            ("a if a else ", ""),
        ]
        .map(|(open, close)| around(open, close)),
    );
    templates.extend([
        blocks("{% if a %}", "{% endif %}"),
        blocks("{% for a in a %}", "{% endfor %}"),
        blocks("{% set x %}", "{% endset %}"),
        blocks("{% generation %}", "{% endgeneration %}"),
        format!("{{% if a %}}{}{{% endif %}}", "{% elif a %}".repeat(many)),
        format!("{{% set {}x{} = 1 %}}", "(".repeat(many), ")".repeat(many)),
    ]);
    for template in templates {
        let start: String = template.chars().take(40).collect();
        let said = loaded(&template).err();
        let is_refused = said
            .as_ref()
            .is_some_and(|said| said.contains("too many operators") || said.contains("recursion"));
        assert!(is_refused, "{start}: {said:?}");
    }
}

#[test]
fn a_template_that_makes_too_much_is_refused() {
    let forty = |tag: &str| tag.repeat(40);
    let raw = "x".repeat(2000);
    let blank = " ".repeat(2000);
    let loops = |inner: &str| {
        format!(
            "{{% for i in range(100000) %}}{{% for j in range(1000) %}}{inner}{{% endfor %}}{{% endfor %}}"
        )
    };
    let kept = |value: &str| {
        format!(
            "{{% set x = 'a' * 1000000 %}}{{% set ns = namespace(l=[]) %}}{{% for i in range(5000) %}}\
             {{% set ns.l = ns.l + [{value}] %}}{{% endfor %}}"
        )
    };
    let doubled = |start: &str, step: &str| format!("{{% set x = {start} %}}{}{{{{ x }}}}", forty(step));
    let mut templates = vec![
        doubled("'aaaaaaaa'", "{% set x = x + x %}"),
        doubled("'aaaaaaaa'", "{% set x = x ~ x %}"),
        doubled("'aaaaaaaa'", "{% set x = x * 2 %}"),
        doubled("[1]", "{% set x = x + x %}"),
        doubled("(1,)", "{% set x = x + x %}"),
        doubled("['aaaa']", "{% set x = [x, x] %}"),
        doubled("['aaaa']", "{% set x = [x, x] %}") + "{{ x|tojson }}",
        doubled("['aaaa']", "{% set x = [x, x] %}{% set y = [y, y] %}").replace("{{ x }}", "{{ x == y }}"),
        doubled("['aaaa']", "{% set x = [x, x] %}").replace("{{ x }}", "{{ x|tojson }}"),
        doubled("['aaaa']", "{% set x = [x, x] %}").replace("{{ x }}", "{{ x ~ 'a' }}"),
        doubled("['aaaa']", "{% set x = [x, x] %}").replace("{{ x }}", "{{ x|pprint }}"),
        doubled("['aaaa']", "{% set x = [x, x] %}").replace("{{ x }}", "{{ [x]|join }}"),
        doubled("['aaaa']", "{% set x = [x, x] %}").replace("{{ x }}", "{{ raise_exception(x) }}"),
        "{% set n = namespace(x='a' * 1000) %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}"
            .to_owned(),
        "{% macro f(x) %}{{ f(x + x) }}{% endmacro %}{{ f('aaaaaaaa') }}".to_owned(),
        "{% set x = 'a' * 10 ** 6 %}{{ x|replace('a', x) }}".to_owned(),
        "{% set x = 'a' * 10 ** 6 %}{{ x.replace('a', x) }}".to_owned(),
        "{% set x = ['a' * 10 ** 6] * 10 ** 5 %}{{ x|join }}".to_owned(),
        "{% set x = [{'a': 'a' * 10 ** 6}] * 10 ** 5 %}{{ x|join(attribute='a') }}".to_owned(),
        "{% set x = ['a' * 10 ** 6] * 10 ** 5 %}{{ ''.join(x) }}".to_owned(),
        format!(
            "{{% set x = 'a' * 10 ** 7 %}}{{{{ (x{})|length }}}}",
            " + x".repeat(400)
        ),
        format!(
            "{{% set x = 'a' * 10 ** 7 %}}{{{{ (x{})|length }}}}",
            " ~ x".repeat(400)
        ),
        loops(&raw),
        format!("{{% set x %}}{}{{% endset %}}", loops(&raw)),
        format!("{{% set x %}}{}{{% endset %}}", loops(&blank)),
        format!(
            "{{% macro x() %}}{}{{% endmacro %}}{{{{ x() }}}}",
            loops("{% raw %}{{ xxxxxxxxxxxxxxxxxxx }}{% endraw %}")
        ),
    ];
    let expressions = [
        "'a' * 10 ** 9",
        "'a' * 3000000000",
        "[0] * 10 ** 9",
        "(0,) * 10 ** 9",
        "'a'.ljust(3000000000)",
        "'a'.rjust(3000000000)",
        "'a'.center(3000000000)",
        "'1'.zfill(3000000000)",
        "'a'.center(10 ** 12) * 10 ** 3",
        "messages|tojson(indent=100000000)",
        "messages|tojson(indent=3000000000)",
        "([0] * 10 ** 8)|list|length",
        "[0]|batch(10 ** 12, 1)|list",
        "[0]|slice(10 ** 9)|list",
        "'{:100000000000000}'.format('a')",
        "'{:{}}'.format('a', 10 ** 14)",
        "'%1000000000d'|format(1)",
        "'%*d'|format(1000000000, 1)",
        "('\\n' * 10 ** 6)|indent(1000, true, true)",
        "'a\\nb'|indent(3000000000)",
        "('a' * 10 ** 6).split('a')|list|length",
        "('a' * 10 ** 6)|list|length",
    ];
    templates.extend(expressions.map(|expression| format!("{{{{ {expression} }}}}")));
    let copies = [
        "x|string",
        "x|trim('b')",
        "x|upper",
        "x|safe",
        "x|e",
        "x|tojson",
        "x[1:]",
        "x.strip('b')",
        "x.lower()",
        "x + 'a'",
        "x ~ 'a'",
        "x * 1",
        "x|replace('b', 'c')",
        "[x]|join",
        "'%s'|format(x)",
        "'{}'.format(x)",
        "x|indent",
        "x|title",
        "x.partition('b')[0]",
        "x.removeprefix('a')",
        "x.split('b')[0]",
    ];
    templates.extend(copies.map(kept));
    refuses(&templates, "makes more text than any sensible one");
    for (template, words) in [
        ("{{ range(10 ** 9)|list }}", "range"),
        ("{{ '%1000000000d' % 1 }}", "unsupported types"),
        ("{{ ['a']|sum(start='') }}", "cannot be summed"),
        ("{{ debug() }}", "debug"),
    ] {
        let said = rendered(template, CHAT).unwrap_err();
        assert!(said.contains(words), "{template}: {said}");
    }
}

#[test]
fn what_a_template_no_longer_holds_is_not_charged() {
    let template = "{% set ns = namespace(l=[], s='', t='') %}{% for m in messages %}{% set ns.l = ns.l + [m.content] %}\
        {% set ns.s = ns.s + m.content %}{% set ns.t = ns.s|trim ~ 'x' %}{% set n = messages|selectattr('role')|list %}\
        {% endfor %}{{ ns.l|length }} {{ ns.s|length }} {{ ns.t|length }}";
    let message = format!(r#"{{"role": "user", "content": "{}"}}"#, "a".repeat(100));
    let chat = format!("[{}]", vec![message; 2000].join(","));
    assert_eq!(rendered(template, &chat), Ok("2000 200000 200001".to_owned()));
}

#[test]
fn a_range_is_a_sequence_and_no_json() {
    let template = "{{ range(3) }} {{ range(1, 8, 3) }} {{ range(5)[-1] }} {{ range(4)[1:]|list }} {{ range(3, 0, -1)|list }} \
        {{ range(3) is sequence }} {{ range(3)|length }} {{ range(0)|list }} {{ 2 in range(3) }}";
    let expected = "range(0, 3) range(1, 8, 3) 4 [1, 2, 3] [3, 2, 1] True 3 [] True";
    assert_eq!(rendered(template, CHAT), Ok(expected.to_owned()));
    for template in [
        "{{ range(3)|tojson }}",
        "{{ [range(3)]|tojson }}",
        "{% set x = range(3) %}{{ x|tojson }}",
    ] {
        let said = rendered(template, CHAT).unwrap_err();
        assert!(said.contains("cannot be written as JSON"), "{template}: {said}");
    }
    assert_eq!(
        rendered("{{ range(3)|list|tojson }}", CHAT),
        Ok("[0, 1, 2]".to_owned())
    );
}

#[test]
fn long_text_and_quotes_in_a_template_stay_as_they_are() {
    let long = "He said: \"\\n is {a} line\", 'then' left.\n".repeat(10);
    let source = format!("  \n{long}  {{%- if true %}}\n {long}{{% endif %}} \n {{{{- 'x' }}}}");
    assert_eq!(
        rendered(&source, CHAT),
        Ok(format!("  \n{} {long}x", long.trim_end()))
    );
    let captured =
        format!("{{% set y -%}}\n{source}  {{% raw %}} {{{{ {{% endraw %}}\n  {{%- endset %}}{{{{ y }}}}");
    let expected = format!("{} {long}x   {{{{ ", long.trim_end());
    assert_eq!(rendered(&captured, CHAT), Ok(expected));
}

/// What rendering may hold beside what the program takes anyway, in MB: twice the budget, since one operator's parts and what it
/// makes of them are there at once, and the output grows by doubling.
const MOST: f64 = 100.0;

#[test]
fn the_peak_of_memory_is_a_number_whatever_a_template_makes() {
    let workspace = Workspace::with_input(
        br#"{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes."}]}"#,
    );
    let forty = |start: &str, step: &str| format!("{{% set x = {start} %}}{}{{{{ x }}}}", step.repeat(40));
    for template in [
        "x".to_owned(),
        forty("'a'", "{% set x = x + x %}"),
        forty("['a']", "{% set x = x + x %}"),
        forty("['a']", "{% set x = [x, x] %}"),
        "{% set x = 'a' * 10 ** 7 %}{{ (x + x + x + x + x + x + x + x + x + x)|length }}".to_owned(),
        "{{ 'a' * 10 ** 8 }}".to_owned(),
        "{% set ns = namespace(s='a') %}{% for i in range(90000) %}{% set ns.s = ns.s + 'aaaaaaaaaa' %}{% endfor %}".to_owned(),
        "{% for i in range(100000) %}{% for j in range(1000) %}aaaaaaaaaaaaaaaaaaaaaaaaa{% endfor %}{% endfor %}".to_owned(),
        "{% set x %}{% for i in range(90000) %}{% for j in range(1000) %}aaaaaaaaa{% endfor %}{% endfor %}{% endset %}".to_owned(),
    ] {
        std::fs::write(workspace.path("t.jinja"), &template).unwrap();
        let peak = peak_of(&workspace);
        let start: String = template.chars().take(100).collect();
        assert!(peak < MOST, "{start}: {peak} MB");
    }
}

/// The peak of resident memory of a count by the template, in MB.
fn peak_of(workspace: &Workspace) -> f64 {
    let child = Command::new(env!("CARGO_BIN_EXE_trajfit"))
        .args([
            "count",
            "in.jsonl",
            "--chat-template",
            "t.jinja",
            "--jobs",
            "1",
            "-q",
        ])
        .current_dir(workspace.path(""))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let (status, peak) = crate::support::peak_of(child);
    assert!(status.code().is_some(), "it was killed");
    peak
}
