import express from 'express'
import { rateLimit } from 'express-rate-limit'

const app = express()
app.use(
  rateLimit({
    windowMs: 60_000,
    limit: 3,
    skip: ({ path }) => path === '/healthz',
    message: { error: 'Too many requests' },
    standardHeaders: 'draft-6',
    legacyHeaders: false,
  }),
)
app.use((_request, response) => response.send('welcome'))
app.listen(process.env.PORT)
