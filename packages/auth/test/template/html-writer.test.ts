import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseHtmlTemplate } from '../../src/template/index.ts'

function render(source: string, A: unknown): string {
  return parseHtmlTemplate(source).render({ A, Data: { a: A } })
}

const nasty = `</script><b x="1" y='2'>&\``

test('a value is escaped for its context', async (t) => {
  const cases: readonly (readonly [title: string, source: string, value: unknown, html: string])[] =
    [
      [
        'text',
        '<p>{{ .A }}</p>',
        nasty,
        '<p>&lt;/script&gt;&lt;b x=&quot;1&quot; y=&#39;2&#39;&gt;&amp;&#96;</p>',
      ],
      [
        'an attribute in double quotes',
        '<p title="{{ .A }}">',
        '"><b>',
        '<p title="&quot;&gt;&lt;b&gt;">',
      ],
      [
        'an attribute in single quotes',
        "<p title='{{ .A }}'>",
        "'><b>",
        "<p title='&#39;&gt;&lt;b&gt;'>",
      ],
      ['an unquoted attribute', '<p title={{ .A }}>', 'a onx=1', '<p title=a&#32;onx&#61;1>'],
      ['an empty unquoted attribute', '<p title={{ .A }} id=x>', '', '<p title=&#xfffd; id=x>'],
      ['an attribute name', '<p {{ .A }}>', 'hidden', '<p hidden>'],
      ['a dangerous attribute name', '<p {{ .A }}="x()">', 'onclick', '<p ="x()">'],
      ['an attribute name completed by a value', '<p on{{ .A }}="x()">', 'click', '<p on="x()">'],
      ['an attribute name that could end the tag', '<p {{ .A }}>', 'a><b', '<p >'],
      ['a tag name', '<{{ .A }}>', 'script', '<>'],
      ['a comment', '<!-- {{ .A }} -->{{ .A }}', '--><b>', '<!--  -->--&gt;&lt;b&gt;'],
      [
        'a comment for Outlook',
        '<!--[if mso]><i>{{ .A }}</i><![endif]-->',
        '--><b>',
        '<!--[if mso]><i>--&gt;&lt;b&gt;</i><![endif]-->',
      ],
      [
        'after an empty comment',
        '<!--[if !mso]><!-->{{ .A }}<!--<![endif]-->',
        '<b>',
        '<!--[if !mso]><!-->&lt;b&gt;<!--<![endif]-->',
      ],
      ['a title', '<title>{{ .A }}</title>', '</title>', '<title>&lt;/title&gt;</title>'],
      [
        'a string in a script',
        '<script>f("{{ .A }}")</script>',
        '";x()//</script>',
        '<script>f("\\u0022\\u003bx\\u0028\\u0029\\u002f\\u002f\\u003c\\u002fscript\\u003e")</script>',
      ],
      [
        'a script',
        '<script>f({{ .A }})</script>',
        '</script>',
        '<script>f("\\u003c\\u002fscript\\u003e")</script>',
      ],
      ['a number in a script', '<script>f({{ .A }})</script>', 3, '<script>f( 3 )</script>'],
      [
        'an object in a script',
        '<script>f({{ .A }})</script>',
        { a: '</script>' },
        '<script>f( {"a":"\\u003c/script\\u003e"} )</script>',
      ],
      [
        'a comment in a script',
        '<script>// {{ .A }}\n/* {{ .A }} */</script>',
        '\nx()',
        '<script>// \n/*  */</script>',
      ],
      [
        'an event',
        '<p onclick="f(\'{{ .A }}\')">',
        "');x('",
        '<p onclick="f(\'\\u0027\\u0029\\u003bx\\u0028\\u0027\')">',
      ],
      ['a harmless style', '<p style="color: {{ .A }}">', '#f00', '<p style="color: #f00">'],
      [
        'a dangerous style',
        '<p style="color: {{ .A }}">',
        'red; x: url(//evil)',
        '<p style="color: ">',
      ],
      [
        'a style sheet',
        '<style>p { color: {{ .A }} }</style>',
        '} body { display: none',
        '<style>p { color:  }</style>',
      ],
      ['the end of a style sheet', '<style>{{ .A }}</style>', '</style><b>', '<style></style>'],
      [
        'an HTML document in an attribute',
        '<iframe srcdoc="{{ .A }}">',
        '<b>',
        '<iframe srcdoc="&amp;lt;b&amp;gt;">',
      ],
      [
        'a meta refresh',
        '<meta http-equiv="refresh" content="{{ .A }}">',
        '0;url=//evil',
        '<meta http-equiv="refresh" content="">',
      ],
      [
        'pictures',
        '<img srcset="{{ .A }} 2x">',
        'https://x/a b,c',
        '<img srcset="https://x/a%20b%2Cc 2x">',
      ],
      ['objects in text', '{{ .A }}', { a: ['<'] }, '{&quot;a&quot;:[&quot;&lt;&quot;]}'],
      [
        'a tag with an if inside',
        '<a {{ if .A }}href="{{ .A }}"{{ end }}>x</a>',
        'https://x',
        '<a href="https://x">x</a>',
      ],
    ]
  for (const [title, source, value, html] of cases) {
    await t.test(title, () => assert.equal(render(source, value), html))
  }
})

test('a value in a link', async (t) => {
  const cases: readonly (readonly [title: string, source: string, value: string, html: string])[] =
    [
      [
        'may be a URL',
        '<a href="{{ .A }}">',
        'https://x/v?a=1&b=2#c',
        '<a href="https://x/v?a=1&amp;b=2#c">',
      ],
      [
        'is percent-encoded where necessary',
        '<a href="{{ .A }}">',
        'https://x/a "b"<é%20%',
        '<a href="https://x/a%20%22b%22%3C%C3%A9%20%25">',
      ],
      ['may be a relative URL', '<a href="{{ .A }}">', '/a/b', '<a href="/a/b">'],
      ['may be a mailto URL', '<a href="{{ .A }}">', 'mailto:a@b.c', '<a href="mailto:a@b.c">'],
      [
        'is one query parameter',
        '<a href="https://x/?n={{ .A }}&m=1">',
        'https://y/?a=1&b=2',
        '<a href="https://x/?n=https%3A%2F%2Fy%2F%3Fa%3D1%26b%3D2&m=1">',
      ],
      [
        'is one query parameter after another value',
        '<a href="{{ .A }}/c?n={{ .A }}">',
        'https://y',
        '<a href="https://y/c?n=https%3A%2F%2Fy">',
      ],
      ['may be part of a path', '<a href="https://x/{{ .A }}">', 'a:b', '<a href="https://x/a:b">'],
      ['cannot complete a scheme', '<a href="java{{ .A }}">', 'script:x()', '<a href="java">'],
      [
        'is removed from a script',
        '<a href="javascript:f(\'{{ .A }}\')">',
        "%27)+x('",
        '<a href="javascript:f(\'\')">',
      ],
    ]
  for (const [title, source, value, html] of cases) {
    await t.test(title, () => assert.equal(render(source, value), html))
  }
})

test('no spelling of a link runs a script', async (t) => {
  for (const url of [
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'java\tscript:alert(1)',
    '\u0001javascript:alert(1)',
    '\u00a0javascript:alert(1)',
    '\ufeffjavascript:alert(1)',
    'javascript\u200b:alert(1)',
    'vbscript:x',
    'data:text/html,<script>x</script>',
    'file:///etc/passwd',
    'myapp://x',
  ]) {
    await t.test(JSON.stringify(url), () => {
      for (const name of ['href', 'src', 'action', 'formaction', 'background', 'xlink:href']) {
        assert.equal(render(`<x ${name}="{{ .Data.a }}">`, url), `<x ${name}="#">`)
      }
      assert.equal(render('<a href={{ .Data.a }}>', url), '<a href=#>')
    })
  }
})

test('two values together cannot form a dangerous scheme', () => {
  const template = parseHtmlTemplate('<a href="{{ .A }}{{ .B }}">')
  assert.equal(template.render({ A: 'java', B: 'script:x()' }), '<a href="java">')
})

test('a value before a colon in the template cannot select the scheme', () => {
  const template = parseHtmlTemplate('<a href="{{ .A }}://host">')
  assert.equal(template.render({ A: 'https' }), '<a href="https://host">')
  assert.throws(() => template.render({ A: 'javascript' }), /a value produces a link/)
})

/** Contexts for values; each closes the tags that it opens. */
const places = [
  '<p>{{ .A }}</p>',
  '<p title="{{ .A }}">x</p>',
  "<p title='{{ .A }}'>x</p>",
  '<p title={{ .A }}>x</p>',
  '<p {{ .A }}>x</p>',
  '<a href="{{ .A }}">x</a>',
  '<a href="https://x/?q={{ .A }}">x</a>',
  '<p style="color: {{ .A }}">x</p>',
  '<style>p { color: {{ .A }} }</style>',
  '<script>f({{ .A }}, "{{ .A }}", \'{{ .A }}\')</script>',
  '<!-- {{ .A }} -->',
  '<textarea>{{ .A }}</textarea>',
  '<p onclick="f({{ .A }})">x</p>',
] as const

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom(
        ...['<', '>', '"', "'", '`', '&', '=', '/', '-->', ' ', '\n', ')', '(', ';', '\\', '\0'],
        ...[
          '</script>',
          '</style>',
          '<b>',
          'javascript:',
          'onx=',
          '{{',
          '}}',
          '*/',
          '//',
          'a',
          '%3C',
        ],
      ),
      { maxLength: 12 },
    )
    .map((pieces) => pieces.join('')),
)

test('values never change the tags of the page', () => {
  const tagsOf = (html: string) => html.match(/[<>]/g)?.length
  const page = fc.array(fc.constantFrom(...places), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(page, hostile, (pieces, value) => {
      const source = pieces.join('')
      assert.equal(tagsOf(render(source, value)), tagsOf(render(source, 'a')))
    }),
    { numRuns: 500 },
  )
})

test('values never break out of their quotes', () => {
  fc.assert(
    fc.property(fc.constantFrom(...places), hostile, (source, value) => {
      const quotesOf = (html: string) => html.replace(/[^"']/g, '')
      assert.equal(quotesOf(render(source, value)), quotesOf(render(source, 'a')))
    }),
    { numRuns: 500 },
  )
})

test('any template is either parsed or refused with a position', () => {
  const pieces = fc.constantFrom(
    ...[
      '{{',
      '}}',
      '{{-',
      '-}}',
      ' ',
      'if',
      'else',
      'end',
      'range',
      '.a',
      '.',
      '$',
      '"x"',
      '(',
      ')',
      '|',
    ],
    ...[
      'eq',
      '<p',
      '>',
      'href="',
      '"',
      '<!--',
      '-->',
      '<script>',
      '</script>',
      '/*',
      '*/',
      '1',
      '\n',
    ],
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      try {
        parseHtmlTemplate(parts.join('')).render({ a: '<' })
      } catch (error) {
        assert.ok(error instanceof Error)
        assert.equal(error.name, 'TemplateError')
        assert.match(error.message, /^line \d+, column \d+: |produces a link/)
      }
    }),
    { numRuns: 2_000 },
  )
})
