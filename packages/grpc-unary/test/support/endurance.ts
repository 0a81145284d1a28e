import process from 'node:process'

/** The large count in the endurance leg, which runs on demand; the small one everywhere else. */
export function enduranceOr<Count>(large: Count, small: Count): Count {
  return process.env['PORTCULLIS_ENDURANCE'] === 'true' ? large : small
}
