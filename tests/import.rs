//! Legacy JSON import (C4).
