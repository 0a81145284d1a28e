import assert from 'node:assert/strict'
import test from 'node:test'
import { drawBarChart } from '../src/bar-chart.ts'

test('the chart draws the best first and escapes its labels', () => {
  const svg = drawBarChart('a < b', '"note"', [
    {
      title: 'panel',
      bars: [
        { label: 'slow & steady', value: 10, kind: 'peer' },
        { label: 'quick', value: 1234.4, kind: 'ours' },
      ],
    },
  ])
  assert.match(svg, /^<svg [^>]*aria-label="a &#60; b"/)
  assert.match(svg, /slow &#38; steady/)
  assert.match(svg, />1,234</)
  assert.ok(svg.indexOf('quick') < svg.indexOf('steady'))
})
