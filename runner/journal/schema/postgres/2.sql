-- What the bytes of a row add up to, see checksum.go. Rows of older capstans have none.
ALTER TABLE pack ADD COLUMN sum BIGINT;
ALTER TABLE start ADD COLUMN sum BIGINT;
ALTER TABLE result ADD COLUMN sum BIGINT;
