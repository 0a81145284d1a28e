/**
 * How often something is repeated: `large` in the endurance leg, which runs on demand, and `small` in CI,
 * where a test has seconds.
 */
export function enduranceOr(large: number, small: number): number {
  return process.env['PORTCULLIS_ENDURANCE'] === 'true' ? large : small
}
