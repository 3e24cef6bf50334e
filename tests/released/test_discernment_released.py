"""The study on 100 real SummEval references, rated offline by a compressor."""

from __future__ import annotations

from pathlib import Path

import yaml

from judgelab.agents.recorded import Recorded
from judgelab.attack.none import NoAttack
from judgelab.config import build
from judgelab.evaluation_lm.compression import Compression
from judgelab.mechanism.rating_likelihood import RatingLikelihood
from judgelab.preprocessor.identity import Identity
from judgelab.prompt import Prompt
from judgelab.store.run_dir import RunDir
from judgelab.study.discernment import Discernment
from judgelab.study.lab import Lab
from judgelab.synopsis.recorded import Recorded as RecordedSynopsis

CONF = Path(__file__).resolve().parents[2] / "conf"


def test_a_compressor_sees_typos_in_all_references_and_no_swapped_sentences(
    shared_data: Path, tmp_path: Path
) -> None:
    node = yaml.safe_load((CONF / "dataset" / "summeval.yaml").read_text(encoding="utf-8"))
    file = shared_data / "summeval" / "dhp_inputs" / "summeval_refs_100.parquet"
    columns = {"source": "article", "references": "reference_most_sentences", "id": "doc_id"}
    node |= {"source": "path", "path": str(file), "fields": {**columns, "right": None}}
    lab = Lab(
        dataset=build(node, "dataset"),
        agents=Recorded(),
        synopsis=RecordedSynopsis(),
        evaluation_lm=Compression(workers=1),
        preprocessor=Identity(),
        attack=NoAttack(),
        mechanism=RatingLikelihood(Prompt("rating.txt"), metrics=["coherence", "fluency"]),
        run_dir=RunDir(tmp_path),
        seed=0,
        limit=None,
    )
    study = Discernment(only=["typos_minor", "reordering_minor"], replicates=200, bootstrap=50)
    result = study.run(lab)
    assert result.summary["items"] == 100
    typos, reordering = (result.summary[f"d_ew/{n}_minor"] for n in ("typos", "reordering"))
    assert isinstance(typos, float) and isinstance(reordering, float)
    assert typos > 12, "at most 13.6 with 100 items"
    assert reordering < 1
    assert result.summary["not_seen"] == "reordering_minor"
