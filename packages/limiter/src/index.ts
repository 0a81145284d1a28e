export * from '@portcullis/ratelimit'
