import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { drawChart } from '../../../../src/tools/replay/report/chart.ts'
import { toReport } from '../../../../src/tools/replay/report/report.ts'
import { perMinute, reportOf, summary } from '../support/report.ts'
import { openSimulation } from '../support/simulation.ts'
import { findAll, parseXml, textOf, type XmlElement } from '../support/xml.ts'

/** The total height of the bars of a path, in pixels. */
function heightOf(path: XmlElement | undefined): number {
  const bars = [...(path?.attributes['d'] ?? '').matchAll(/v(\d+(?:\.\d+)?)/g)]
  return bars.reduce((sum, [, height]) => sum + Number(height), 0)
}

suite('a chart', () => {
  test('is well-formed, has a title, a legend, axes and a panel for each rule that refuses', (t) => {
    const chart = parseXml(drawChart(reportOf(t, perMinute(20))))
    assert.equal(chart.attributes['xmlns'], 'http://www.w3.org/2000/svg')
    const texts = findAll(chart, 'text').map(textOf)
    const wanted = [
      'What the rules would have refused',
      'allowed',
      'refused, or over the limit of a rule in shadow mode',
      'all requests',
      'api.user',
      '20/minute: 2,400 of 3,600 refused (66.7 %)',
      '2026-01-01',
      '00:30',
    ]
    for (const text of wanted) assert(texts.includes(text), `${text} is missing`)
    assert(texts.some((text) => text.endsWith('requests per 15 seconds')))
  })

  test('has bars in proportion to the allowed and refused requests', (t) => {
    const chart = parseXml(drawChart(reportOf(t, perMinute(20))))
    const paths = findAll(chart, 'path')
    const [allowed, refused] = ['allowed', 'refused'].map((kind) =>
      heightOf(paths.find(({ attributes }) => attributes['class'] === kind)),
    )
    assert(Math.abs((refused ?? 0) / (allowed ?? 1) - 2) < 0.05, `${refused} to ${allowed}`)
  })

  test('has no external references and supports dark mode', (t) => {
    const text = drawChart(reportOf(t, perMinute(20)))
    const addresses = [...text.matchAll(/https?:[^"\s]+/g)].map(([address]) => address)
    assert.deepEqual(addresses, ['http://www.w3.org/2000/svg'])
    assert.match(text, /@media \(prefers-color-scheme: dark\)/)
  })

  test('is well-formed whatever the name of a rule', (t) => {
    const key = '<a href="x">&amp;\u0007]]>'
    const chart = parseXml(drawChart(reportOf(t, perMinute(1, key), `${key.split('=')[0]}=1`)))
    assert(findAll(chart, 'text').length > 0)
    const named = parseXml(drawChart({ ...reportOf(t, perMinute(1)), rules: '<&"\u0000>' }))
    assert(findAll(named, 'text').some((text) => textOf(text).includes('<&"\ufffd>')))
  })

  test('can be drawn for an empty log', (t) => {
    const simulation = openSimulation(t, perMinute(1))
    const nothing = { ...summary, firstMs: Number.NaN, lastMs: Number.NaN }
    const report = toReport(simulation, nothing, { rules: 'config', logs: [], top: 1 })
    const texts = findAll(parseXml(drawChart(report)), 'text').map(textOf)
    assert(texts.includes('config: no request'))
  })
})
