import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseHtmlTemplate, parseLineTemplate, TemplateError } from '../../src/template/index.ts'

function render(source: string, data: unknown = {}): string {
  return parseHtmlTemplate(source).render(data)
}

test('a template inserts values into its text', async (t) => {
  const data = {
    Email: 'ada@example.com',
    Data: { name: 'Ada', age: 36, tags: ['x', 'y'], empty: [], none: null, deep: { er: 'yes' } },
    Items: [{ name: 'one' }, { name: 'two' }],
  }
  const cases: readonly (readonly [title: string, source: string, expected: string])[] = [
    ['a field', 'Hi {{ .Email }}{{.Data.name}}!', 'Hi ada@example.comAda!'],
    ['nested fields', '{{ .Data.deep.er }}', 'yes'],
    ['missing keys are empty', '[{{ .Nope }}{{ .Data.a.b.c }}{{ .Data.none }}]', '[]'],
    ['if', '{{ if .Data.name }}a{{ end }}{{ if .Data.nope }}b{{ end }}', 'a'],
    ['else', '{{ if .Data.nope }}a{{ else }}b{{ end }}', 'b'],
    ['else if', '{{ if .X }}a{{ else if .Data.age }}b{{ else }}c{{ end }}', 'b'],
    [
      'the last else branch',
      '{{ if .X }}a{{ else if .Y }}b{{ else if .Z }}c{{ else }}d{{ end }}',
      'd',
    ],
    ['empty values are false', '{{ if .Data.empty }}a{{ else }}b{{ end }}', 'b'],
    ['range', '{{ range .Items }}[{{ .name }}]{{ end }}', '[one][two]'],
    ['dot in range', '{{ range .Data.tags }}{{ . }},{{ end }}', 'x,y,'],
    ['else in range', '{{ range .Data.empty }}a{{ else }}none{{ end }}', 'none'],
    [
      'the root in range',
      '{{ range .Data.tags }}{{ $.Email }} {{ end }}',
      'ada@example.com ada@example.com ',
    ],
    ['range over an object', '{{ range .Data.deep }}{{ . }}{{ end }}', 'yes'],
    ['with', '{{ with .Data.deep }}{{ .er }}{{ else }}no{{ end }}', 'yes'],
    ['eq', '{{ if eq .Data.name "Ada" }}a{{ end }}', 'a'],
    ['eq with several', '{{ if eq .Data.age 1 36 }}a{{ end }}', 'a'],
    ['ne', '{{ if ne .Data.name "Bob" }}a{{ end }}', 'a'],
    [
      'a missing value equals the empty string',
      '{{ if ne .Data.nope "" }}a{{ else }}b{{ end }}',
      'b',
    ],
    ['and, or, not', '{{ if and .Email (or .X (not .Y)) }}a{{ end }}', 'a'],
    ['and and or return the deciding value', '{{ and .Email .Data.name }}{{ or .X "z" }}', 'Adaz'],
    ['order', '{{ if and (lt 1 2) (ge .Data.age 36) }}a{{ end }}', 'a'],
    ['index', '{{ index .Data.tags 1 }}{{ (index .Items 0).name }}', 'yone'],
    ['index with a name', '{{ index .Data "name" }}', 'Ada'],
    ['slice and len', '{{ slice "123456" 0 3 }} {{ len .Data.tags }}', '123 2'],
    ['a pipeline', '{{ .Data.name | print "x" }}', 'xAda'],
    ['literals', '{{ "a\\"b" }}{{ 4.5 }}{{ `raw` }}{{ true }}', 'a&quot;b4.5rawtrue'],
    ['comments', 'a{{/* .Email }} */}}b{{- /* c */ -}} d', 'abd'],
    ['trim markers', 'a \n {{- " b " -}} \n c', 'a b c'],
    ['a minus without a space is a sign', '{{-3}}', '-3'],
    ['braces in a string', '{{ "}}" }}', '}}'],
  ]
  for (const [title, source, expected] of cases) {
    await t.test(title, () => assert.equal(render(source, data), expected))
  }
})

test('a syntax error has a position and a reason', async (t) => {
  const cases: readonly (readonly [source: string, message: string])[] = [
    ['a\n  {{ .x', 'line 2, column 3: this {{ has no }}'],
    ['{{ if .a }}x', 'line 1, column 1: this if has no {{ end }}'],
    ['x{{ end }}', 'line 1, column 2: this end has no matching block'],
    ['{{ else }}', 'line 1, column 1: this else has no matching block'],
    ['{{ if .a }}{{ else }}{{ else }}{{ end }}', 'line 1, column 22: a second else'],
    [
      '{{ if .a }}{{ else range .b }}{{ end }}',
      'line 1, column 12: else can only be followed by if or with',
    ],
    ['{{ if }}{{ end }}', 'line 1, column 1: a value is missing'],
    ['{{ }}', 'line 1, column 1: a value is missing'],
    ['{{ .a | }}', 'line 1, column 1: a value is missing'],
    ['{{ .a .b }}', 'line 1, column 4: only a function can have operands'],
    ['{{ eq .a }}', 'line 1, column 4: wrong number of operands for eq: 1 instead of 2 to 20'],
    ['{{ eq .a not }}', 'line 1, column 10: write (not …) in parentheses'],
    ['{{ (eq .a 1 }}', 'line 1, column 4: this ( has no )'],
    ['{{ .a ) }}', 'line 1, column 7: unexpected here'],
    ['{{ $x := 1 }}', 'line 1, column 4: variables such as $x are not supported'],
    ['{{ template "x" }}', 'line 1, column 1: template is not supported'],
    ['{{ .a = 1 }}', 'line 1, column 7: unexpected "="'],
    ['{{ "a\\q" }}', 'line 1, column 4: "a\\q" is not a valid string'],
    ['{{/* a', 'line 1, column 1: this comment has no end: it must be {{/* … */}}'],
  ]
  for (const [source, message] of cases) {
    await t.test(source, () => {
      assert.throws(() => parseHtmlTemplate(source), { name: 'TemplateError', message })
    })
  }
})

test('an unknown function is named together with the available ones', () => {
  assert.throws(
    () => parseHtmlTemplate('{{ exec "rm" }}'),
    /unknown function exec; the functions are and, or/,
  )
})

test('properties of the prototype are not accessible', () => {
  const data = { Data: JSON.parse('{"__proto__": {"x": 1}, "constructor": "c", "a": [1]}') }
  for (const path of [
    '.__proto__',
    '.constructor',
    '.constructor.name',
    '.toString',
    '.Data.__proto__.x',
    '.Data.constructor',
    '.Data.a.length',
    '(index .Data "__proto__")',
    '(index .Data "constructor")',
  ]) {
    assert.equal(render(`[{{ ${path} }}]`, data), '[]', path)
  }
})

test('a value is never parsed as a template', () => {
  assert.equal(render('{{ .A }}', { A: '{{ .B }}', B: 'secret' }), '{{ .B }}')
})

test('the nesting of a template is limited', () => {
  const source = `${'{{ if .a }}'.repeat(5_000)}${'{{ end }}'.repeat(5_000)}`
  assert.throws(() => parseHtmlTemplate(source), /nested too deep/)
  const parentheses = `{{ ${'('.repeat(5_000)}.a${')'.repeat(5_000)} }}`
  assert.throws(() => parseHtmlTemplate(parentheses), /nested too deep/)
  const elses = `{{ if .a }}${'{{ else if .b }}'.repeat(5_000)}{{ end }}`
  assert.throws(() => parseHtmlTemplate(elses), /nested too deep/)
})

test('nested loops are limited', () => {
  const list = Array.from({ length: 1_000 }, (_, index) => index)
  const template = parseHtmlTemplate('{{ range .L }}{{ range $.L }}x{{ end }}{{ end }}')
  assert.throws(() => template.render({ L: list }), TemplateError)
  const empty = parseHtmlTemplate('{{ range .L }}{{ range $.L }}{{ end }}{{ end }}')
  assert.throws(() => empty.render({ L: list }), /too many repetitions/)
})

test('the length of a message is limited', () => {
  const template = parseHtmlTemplate('{{ range .L }}{{ $.A }}{{ end }}')
  const data = { L: Array.from({ length: 1_000 }, () => 1), A: 'x'.repeat(100_000) }
  assert.throws(() => template.render(data), /too long/)
})

test('a subject is one line of plain text', () => {
  const template = parseLineTemplate('{{ .Token }} for "{{ .Data.name }}" &\r\n co')
  const data = { Token: '123456', Data: { name: 'A\r\nBcc: <x@y.z>\u2028\0' } }
  assert.equal(template.render(data), '123456 for "ABcc: <x@y.z>" & co')
})
